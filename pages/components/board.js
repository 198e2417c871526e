// What every board with a handle shares: drawing, unpacking, the drag with its log, writing to the record, and the meeting.
// `flipcore` computed every number for every position; a board only looks another one up.
const FRAME_MS = 16;
const SVG = "http://www.w3.org/2000/svg";

function node(name, attributes, parent) {
  const one = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  parent.appendChild(one);
  return one;
}

function element(name, className, text, parent) {
  const one = document.createElement(name);
  one.className = className;
  one.textContent = text;
  parent.appendChild(one);
  return one;
}

function bytes(text) { return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer; }

// a p-value stays on one line
function unbroken(text) { return text.replace(/p ([=<>]) /g, "p\u00a0$1\u00a0"); }

// A drag from its first step to its release: where it began, and the range that it crossed. `at()` is the handle's place.
class Drag {
  constructor(at) { Object.assign(this, { at, from: null, lowest: null, highest: null }); }

  get isOn() { return this.from !== null; }

  step(move) {
    if (!this.isOn) this.from = this.lowest = this.highest = this.at();
    move();
    this.lowest = Math.min(this.lowest, this.at());
    this.highest = Math.max(this.highest, this.at());
  }

  // what is logged of it, with the values of the handle's places; null where nothing was dragged
  release(value = (place) => place) {
    if (!this.isOn) return null;
    const { from, lowest, highest } = this;
    this.from = null;
    return { from: value(from), to: value(this.at()), lowest: value(lowest), highest: value(highest) };
  }
}

// A text or a title costs a layout even where it stays the same, and eight screens draw on one machine.
function write(one, text, what = "textContent") { if (one[what] !== text) one[what] = text; }

// `act` with the newest of what comes, at most once a frame; the first does not wait for one.
function framed(act) {
  let [frame, last, actedAt] = [0, null, -FRAME_MS];
  const now = () => { frame = 0; actedAt = performance.now(); act(last); };
  const take = (one) => {
    last = one;
    if (frame) return;
    if (performance.now() - actedAt > FRAME_MS) now(); else frame = requestAnimationFrame(now);
  };
  take.stop = () => { cancelAnimationFrame(frame); frame = 0; };
  return take;
}

// Marks under a slider where dragging changes a verdict, each naming what changes. `changes` are {at, text}: the verdict of
// place `at` differs from that of the place before it.
function markChanges(slider, changes) {
  const parent = slider.parentElement;
  const box = parent.querySelector(".changes") ?? element("span", "changes", "", parent);
  const texts = new Map();
  for (const { at, text } of changes) texts.set(at, [...(texts.get(at) ?? []), text]);
  box.replaceChildren();
  box.classList.toggle("none", !texts.size);
  if (!texts.size) box.textContent = "No verdict changes at any level.";
  for (const [at, lines] of [...texts].sort(([a], [b]) => a - b)) {
    const mark = element("i", "", "", box);
    // the thumb is 16 px wide, so the track's ends stand 8 px inside
    mark.style.left = `calc(8px + (100% - 16px) * ${(at - 0.5) / Number(slider.max)})`;
    mark.dataset.at = at;
    mark.title = lines.join("\n");
  }
}

// The button and the key that write what is seen to the record.
function offerRecord(root, button, decide) {
  button.onclick = decide;
  root.onkeydown = (event) => { if (event.key === "w" && event.target.tagName !== "SELECT") decide(); };
}

// A board in a meeting. A presenter's `say` sends where the handles are, at most once a frame; a follower's `show(at, moving)`
// draws what was sent. `settle(at)` takes a released position to the tables below, once, where they are not there yet.
function shareBoard(root, board, { at, show, settle, isSettled }) {
  root._share?.stop();
  const say = (moving) => {
    window.dispatchEvent(new CustomEvent("flipscope-board-moved", { detail: { board, at: at(), moving } }));
  };
  const follow = (sent) => {
    show(sent.at, sent.moving);
    const text = JSON.stringify(sent.at);
    if (sent.moving || isSettled(sent.at) || root._settled === text) return;
    root._settled = text;
    settle(sent.at);
  };
  const [saying, following] = [framed(() => say(true)), framed(follow)];
  const hear = (event) => { if (event.detail.board === board) following(event.detail); };
  const drawn = () => window.dispatchEvent(new CustomEvent("flipscope-board-drawn", { detail: { board, at: at() } }));
  window.addEventListener("flipscope-board-follow", hear);
  window.addEventListener("flipscope-board-say", drawn);
  root._share = {
    moving: saying,
    released() { saying.stop(); say(false); root._settled = null; },
    drawn,
    stop() {
      saying.stop();
      following.stop();
      window.removeEventListener("flipscope-board-follow", hear);
      window.removeEventListener("flipscope-board-say", drawn);
    },
  };
  return root._share;
}

// A board whose one handle is a level of `data.levels`: its slider, its record, the meeting. `paint(drag)` draws the level at
// `root._at`; `sentences()` are what is written to the record. Returns what ends the sharing.
function dragLevel(root, data, setTriggerValue, { paint, sentences }) {
  const { levels, locked, start } = data;
  const [slider, shown] = [root.querySelector("input[type=range]"), root.querySelector(".level")];
  if (root._id !== data.id) Object.assign(root, { _id: data.id, _at: start });
  Object.assign(slider, { min: 0, max: levels.length - 1, step: 1, disabled: Boolean(locked) });
  const drag = new Drag(() => root._at);
  const draw = () => {
    slider.value = root._at;
    write(shown, percentText(levels[root._at], levels[root._at] > 0.989 ? 1 : 0));
    paint(drag);
    root.dataset.painted = String(performance.now());
  };
  const moved = (move) => setTriggerValue("moved", { control: "level", ...move, level: levels[root._at] });
  const shared = shareBoard(root, data.board, {
    at: () => ({ at: root._at }),
    // what a presenter sent, as far as this board has it
    show(at, moving) {
      if (locked || levels[at.at] === undefined) return;
      drag.step(() => { root._at = at.at; });
      if (!moving) drag.release();
      draw();
    },
    isSettled: () => Boolean(locked) || root._at === start,
    settle: () => moved({ from: levels[start], to: levels[root._at] }),
  });
  slider.oninput = () => {
    drag.step(() => { root._at = Number(slider.value); });
    draw();
    shared.moving();
  };
  slider.onchange = () => {
    const move = drag.release((place) => levels[place]);
    if (move === null) return;
    draw();
    moved(move);
    shared.released();
  };
  offerRecord(root, root.querySelector(".controls > button"), () => {
    setTriggerValue("decision", { sentences: sentences().map((one) => `${one} (${shown.textContent})`), level: levels[root._at] });
  });
  draw();
  shared.drawn();
  return () => shared.stop();
}
