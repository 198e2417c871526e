// The margin board: states and sentences were computed by flipcore for every margin; dragging only looks another one up.
const WIDTH = 420;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".margins");
  const answer = root.querySelector(".answer");
  const list = root.querySelector(".rows");
  const { rows, overall, colours, locked } = data;
  const state = root._state?.id === data.id ? root._state
    : (root._state = { id: data.id, at: Object.fromEntries(rows.filter((r) => !r.missing).map((r) => [r.name, r.start])) });
  const parts = [];

  function view() {
    return Object.fromEntries(rows.filter((r) => !r.missing).map((r) => [r.name, r.margins[state.at[r.name]]]));
  }

  function picture(row, parent) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} 44`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${row.title}: ${row.estimate}`);
    parent.appendChild(svg);
    const [low, high] = row.axis;
    const x = (value) => 10 + (WIDTH - 20) * Math.min(Math.max((value - low) / (high - low || 1), 0), 1);
    const zone = node("rect", { y: 4, height: 26, fill: colours.genuine, opacity: 0.13 }, svg);
    const ghost = node("line", { y1: 2, y2: 32, stroke: colours.genuine, "stroke-width": 2, opacity: 0.35,
      "stroke-dasharray": "3 3", visibility: "hidden" }, svg);
    const edges = [0, 1].map(() => node("line", { y1: 4, y2: 30, stroke: colours.genuine, "stroke-width": 2 }, svg));
    node("line", { x1: x(row.nothing), x2: x(row.nothing), y1: 2, y2: 32, stroke: colours.floor, "stroke-width": 1.5,
      "stroke-dasharray": "2 2" }, svg);
    const [from, to] = row.bound;
    if (from !== null && to !== null) {
      node("line", { x1: x(from), x2: x(to), y1: 17, y2: 17, stroke: colours.text, "stroke-width": 3 }, svg);
      for (const end of [from, to]) {
        node("line", { x1: x(end), x2: x(end), y1: 11, y2: 23, stroke: colours.text, "stroke-width": 3 }, svg);
      }
    }
    if (row.value !== null) node("circle", { cx: x(row.value), cy: 17, r: 5.5, fill: colours.text }, svg);
    const label = (value, text, anchor) => {
      const one = node("text", { x: x(value), y: 43, "font-size": 11.5, "text-anchor": anchor, fill: colours.muted }, svg);
      one.textContent = text;
    };
    label(low, row.ends[0], "start");
    label(high, row.ends[1], "end");
    const middle = x(row.nothing);
    if (middle > 70 && middle < WIDTH - 70) label(row.nothing, row.ends[2], "middle");
    return { x, zone, edges, ghost };
  }

  function build() {
    list.replaceChildren();
    parts.length = 0;
    for (const row of rows) {
      const box = element("div", row.missing ? "row absent" : "row", "", list);
      const sign = element("span", "sign", row.missing ? "○" : "", box);
      const text = element("div", "text", "", box);
      element("b", "", row.title, text);
      const sentence = element("div", "sentence", row.missing ?? "", text);
      if (row.missing) continue;
      // what a verdict rests on stands under Tests, and here on hover
      box.title = [`Source's rule: ${row.source}`, `against the margin: ${row.held}`, `could detect ${row.detectable}`, row.about]
        .join("\n");
      const right = element("div", "picture", "", box);
      const drawn = picture(row, right);
      const control = element("label", "drag", "", right);
      const shown = element("span", "margin", "", control);
      const slider = element("input", "", "", control);
      Object.assign(slider, { type: "range", min: 0, max: row.margins.length - 1, step: 1, disabled: Boolean(locked) });
      slider.value = state.at[row.name];
      slider.hidden = row.margins.length < 2; // without a margin there is nothing to move
      slider.setAttribute("aria-label", `Margin of ${row.title.toLowerCase()}`);
      const numbers = element("div", "numbers", "", box);
      element("div", "estimate", row.estimate, numbers);
      const part = { row, sign, sentence, shown, slider, ...drawn, drag: new Drag(() => state.at[row.name]) };
      slider.oninput = () => {
        part.drag.step(() => { state.at[row.name] = Number(slider.value); });
        paint();
        shared.moving();
      };
      slider.onchange = () => {
        const move = part.drag.release((place) => row.margins[place]);
        if (move === null) return;
        paint();
        setTriggerValue("moved", { control: `margin of ${row.name}`, ...move, ...view() });
        shared.released();
      };
      parts.push(part);
    }
    paint();
  }

  function paint() {
    for (const part of parts) {
      const { row, x } = part;
      const at = state.at[row.name];
      const zone = row.zones[at];
      write(part.sign, row.signs[at]);
      part.sign.dataset.verdict = row.states[at];
      write(part.sentence, unbroken(row.sentences[at]));
      write(part.shown, row.labels[at]);
      const there = zone === null ? "hidden" : "visible";
      const [left, right] = (zone ?? row.axis).map(x);
      part.zone.setAttribute("x", left);
      part.zone.setAttribute("width", Math.max(right - left, 0));
      for (const one of [part.zone, ...part.edges]) one.setAttribute("visibility", there);
      part.edges.forEach((edge, i) => {
        edge.setAttribute("x1", i ? right : left);
        edge.setAttribute("x2", i ? right : left);
        if (i === 0 && !row.two_sided) edge.setAttribute("visibility", "hidden");
      });
      const old = part.drag.isOn ? row.margins[part.drag.from] : null;
      part.ghost.setAttribute("visibility", old === null ? "hidden" : "visible");
      if (old !== null) {
        part.ghost.setAttribute("x1", x(old));
        part.ghost.setAttribute("x2", x(old));
      }
    }
    const verdict = overall[parts.map((part) => part.row.states[state.at[part.row.name]]).join("|")];
    write(answer, verdict.sentence);
    answer.dataset.verdict = verdict.state;
    answer.title = verdict.detail; // what the source's rule says, on hover
    root.dataset.painted = String(performance.now());
  }

  function decide() {
    setTriggerValue("decision", { sentences: [answer.textContent, ...parts.map((part) => part.sentence.textContent)], ...view() });
  }
  // A presenter's margins, not the places of their handles: a margin that was stored stands among the presenter's places and may
  // be none of ours.
  function nearest(margins, sent) {
    if (typeof sent !== "number") return margins.indexOf(null);
    return margins.reduce((best, one, i) => {
      if (one === null) return best;
      return best < 0 || Math.abs(one - sent) < Math.abs(margins[best] - sent) ? i : best;
    }, -1);
  }

  // a handle that moves shows its old place behind it
  function show(at, moving) {
    for (const { row, slider, drag } of parts) {
      const place = row.name in at ? nearest(row.margins, at[row.name]) : -1;
      if (locked || place < 0) continue;
      if (place !== state.at[row.name]) drag.step(() => { state.at[row.name] = place; });
      if (!moving) drag.release();
      slider.value = place;
    }
    paint();
  }

  const sentAs = (margins) => Object.fromEntries(Object.entries(margins).map(([name, one]) => [name, one ?? "none"]));
  const taken = (at) => Object.fromEntries(parts.filter(({ row }) => row.name in at)
    .map(({ row }) => [row.name, typeof at[row.name] === "number" ? at[row.name] : null]));
  const shared = shareBoard(root, data.board, {
    at: () => sentAs(view()),
    show,
    isSettled: (at) => Boolean(locked) || parts.every(({ row }) => !(row.name in at) || (row.margins[row.start] ?? "none") === at[row.name]),
    settle: (at) => setTriggerValue("moved", { control: "margins", ...view(), ...taken(at) }),
  });
  offerRecord(root, root.querySelector("button"), data.waiting ? () => {} : decide);
  root.querySelector("button").hidden = Boolean(data.waiting);
  build();
  shared.drawn();
  return () => shared.stop();
}
