// The report's script: it draws the boards from computed data, opens the outputs behind a row, and copies text.
const payload = JSON.parse(document.getElementById("boards").textContent);
const dark = matchMedia("screen and (prefers-color-scheme: dark)");

// Put the long strings, which the payload holds once, back into the boards.
function whole(value) {
  if (Array.isArray(value)) return value.map(whole);
  if (value === null || typeof value !== "object") return value;
  if ("$string" in value) return payload.strings[value.$string];
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, whole(part)]));
}

const boards = Object.fromEntries(Object.entries(payload.boards).map(([key, board]) => [key, whole(board)]));

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
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}

// Nobody can open a section on paper, so those behind the claims are opened for printing; long lists are not.
const printed = [...document.querySelectorAll("#outputs details, #flips details:not(.view), #settings details")];
let closed = [];
addEventListener("beforeprint", () => {
  closed = printed.filter((section) => !section.open);
  for (const section of closed) section.open = true;
});
addEventListener("afterprint", () => { for (const section of closed) section.open = false; });

draw();
dark.addEventListener("change", draw);
