// The tour. The browser stores its step, so that it continues on the next page and is shown only once.
const PLACE = "flipscope-tour"; // a step's number while it runs, "done" afterwards

function stored() {
  try { return window.localStorage.getItem(PLACE); } catch { return "done"; }
}

function keep(value) {
  try { window.localStorage.setItem(PLACE, value); } catch { /* without storage there is no tour */ }
}

// Follow the menu's link to a page, because it keeps the session. If the menu has none, load the address.
function go(path) {
  const here = window.location.pathname.replace(/\/$/, "").split("/").pop();
  if (here === path) return;
  const link = [...document.querySelectorAll("a[href]")].find((anchor) => new URL(anchor.href).pathname.replace(/^\/|\/$/g, "") === path
    && anchor.closest("[data-testid^=stTopNav], header"));
  if (link) link.click();
  else window.location.assign(`/${path}`);
}

export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".tour");
  const { steps } = data;

  // The card covers the end of the page, so extend the page while the card is visible.
  function makeRoom() {
    const page = document.querySelector("[data-testid=stMainBlockContainer]");
    if (page) page.style.paddingBottom = box.hidden ? "" : `${box.offsetHeight + 48}px`;
  }

  function paint() {
    fill();
    makeRoom();
  }

  function fill() {
    const state = stored();
    if (state === "done" || (state === null && !data.start)) { box.hidden = true; return; }
    const at = Math.min(Math.max(Number(state ?? 0) || 0, 0), steps.length - 1);
    const [, title, text] = steps[at];
    box.hidden = false;
    parentElement.querySelector(".at").textContent = `${at + 1} of ${steps.length}`;
    parentElement.querySelector("h2").textContent = title;
    parentElement.querySelector(".text").textContent = text;
    parentElement.querySelector(".back").hidden = at === 0;
    parentElement.querySelector(".next").textContent = at === steps.length - 1 ? "Done" : "Next";
  }

  function step(by) {
    const next = (Number(stored() ?? 0) || 0) + by;
    if (next < 0) return;
    keep(next >= steps.length ? "done" : String(next));
    paint();
    if (next < steps.length) go(steps[next][0]);
  }

  function skip() { keep("done"); paint(); }

  parentElement.querySelector(".next").onclick = () => step(1);
  parentElement.querySelector(".back").onclick = () => step(-1);
  parentElement.querySelector(".skip").onclick = skip;
  const again = () => { keep("0"); paint(); };
  const typing = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable=true]");
  const listen = (event) => {
    if (box.hidden || event.composedPath().some(typing)) return;
    if (event.key === "Escape") skip();
    if (event.key === "Enter" && event.composedPath().includes(box) && event.target.tagName !== "BUTTON") step(1);
  };
  document.addEventListener("keydown", listen);
  window.addEventListener("flipscope-tour", again);
  paint();
  return onlyLast(box, () => {
    document.removeEventListener("keydown", listen);
    window.removeEventListener("flipscope-tour", again);
  });
}
