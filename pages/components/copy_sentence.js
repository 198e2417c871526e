const BOARD = ".board :is(.headline, .under), .cutoff .line";

function isVisible(line) { return line.getClientRects().length > 0 && line.textContent.trim() !== ""; }

// Return the sentences on the page, from top to bottom: the elements of their lines, and a note on the confidence level.
function sentences() {
  const found = [];
  for (const host of document.querySelectorAll("*")) {
    const lines = [...host.shadowRoot?.querySelectorAll(BOARD) ?? []].filter(isVisible);
    const level = host.shadowRoot?.querySelector("[data-control=level] .level")?.textContent;
    if (lines.length) found.push({ lines, note: level ? `Confidence level ${level}.` : "" });
  }
  for (const title of document.querySelectorAll('[data-testid="stMain"] h2')) {
    if (!isVisible(title)) continue;
    const after = title.closest('[data-testid="stElementContainer"]')?.nextElementSibling;
    const small = after?.querySelector('[data-testid="stCaptionContainer"]');
    found.push({ lines: small ? [title, small] : [title], note: "" });
  }
  const top = (sentence) => sentence.lines[0].getBoundingClientRect().top;
  return found.sort((a, b) => top(a) - top(b));
}

export default function (component) {
  const button = component.parentElement.querySelector("button");
  const label = button.textContent;
  button.onclick = () => {
    const first = sentences()[0];
    if (!first) { button.textContent = "This view has no sentence to copy"; return; }
    const lines = first.lines.map((line) => line.innerText.replaceAll("\u00a0", " ").trim());
    const text = [...lines, first.note, component.data.source, window.location.href].filter(Boolean).join("\n");
    const confirm = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = label; }, 1500); };
    if (!navigator.clipboard) { window.prompt("Copy this", text); return; }
    navigator.clipboard.writeText(text).then(confirm, () => window.prompt("Copy this", text));
  };
}
