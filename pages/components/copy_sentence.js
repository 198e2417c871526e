const BOARD = ".board :is(.headline, .under), .cutoff .line";

function isSeen(one) { return one.getClientRects().length > 0 && one.textContent.trim() !== ""; }

// every place that says something: its lines, and at which level, from the top of the page
function places() {
  const every = [];
  for (const host of document.querySelectorAll("*")) {
    const lines = [...host.shadowRoot?.querySelectorAll(BOARD) ?? []].filter(isSeen);
    const level = host.shadowRoot?.querySelector("[data-control=level] .level")?.textContent;
    if (lines.length) every.push({ lines, note: level ? `Confidence level ${level}.` : "" });
  }
  for (const title of document.querySelectorAll('[data-testid="stMain"] h2')) {
    if (!isSeen(title)) continue;
    const after = title.closest('[data-testid="stElementContainer"]')?.nextElementSibling;
    const small = after?.querySelector('[data-testid="stCaptionContainer"]');
    every.push({ lines: small ? [title, small] : [title], note: "" });
  }
  const top = (one) => one.lines[0].getBoundingClientRect().top;
  return every.sort((one, other) => top(one) - top(other));
}

export default function (component) {
  const button = component.parentElement.querySelector("button");
  const words = button.textContent;
  button.onclick = () => {
    const first = places()[0];
    if (!first) { button.textContent = "This view has no sentence to copy"; return; }
    const wordsHere = first.lines.map((one) => one.innerText.replaceAll("\u00a0", " ").trim());
    const text = [...wordsHere, first.note, component.data.source, window.location.href].filter(Boolean).join("\n");
    const said = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = words; }, 1500); };
    if (!navigator.clipboard) { window.prompt("Copy this", text); return; }
    navigator.clipboard.writeText(text).then(said, () => window.prompt("Copy this", text));
  };
}
