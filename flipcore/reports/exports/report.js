// The report's own script: it hands each board the states that flipcore computed, opens the outputs behind a row, and copies.
const payload = JSON.parse(document.getElementById("boards").textContent);
const dark = matchMedia("screen and (prefers-color-scheme: dark)");

function whole(value) {
  if (Array.isArray(value)) return value.map(whole);
  if (value === null || typeof value !== "object") return value;
  if ("$string" in value) return payload.strings[value.$string];
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, whole(one)]));
}

const boards = Object.fromEntries(Object.entries(payload.boards).map(([key, one]) => [key, whole(one)]));

function openOutputs(ident) {
  const place = document.getElementById(ident);
  if (!place) return;
  place.open = true;
  place.scrollIntoView({ block: "start" });
}

function draw() {
  const colours = dark.matches ? payload.dark : payload.light;
  for (const place of document.querySelectorAll("[data-board]")) {
    const board = boards[place.dataset.board];
    drawBoard({
      data: { ...board.data, board: place.dataset.board, colours, locked: false, opened: "" },
      parentElement: place,
      setTriggerValue: (name, value) => { if (name === "opened") openOutputs(board.behind?.[value]); },
    });
  }
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const words = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1500);
  });
}

// on paper a reader cannot open anything: what stands behind the claims is printed, lists of everything are not
const printed = [...document.querySelectorAll("#outputs details, #flips details:not(.view), #settings details")];
let closed = [];
addEventListener("beforeprint", () => {
  closed = printed.filter((one) => !one.open);
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

draw();
dark.addEventListener("change", draw);
