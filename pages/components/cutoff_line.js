// A cut-off that is dragged: over two histograms, or over intervals. Every number was computed by flipcore for every
// position; dragging only looks another one up.
const LAYOUT = { width: 1000, height: 256, left: 8, right: 8, top: 8, bottom: 42 };

const FORMATS = {
  int: (x) => numberText(x, 0),
  num: (x) => numberText(x),
  fine: (x) => numberText(x, 3),
  pct: (x) => percentText(x, 1),
  pp: (x) => `${numberText(100 * x, 1)} points`,
};

export default function render(component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".cutoff");
  const svg = root.querySelector("svg");
  // Drawn in real pixels, so that type keeps its size in a narrow column.
  const BOX = { ...LAYOUT, width: Math.max(svg.clientWidth || LAYOUT.width, 320) };
  svg.setAttribute("viewBox", `0 0 ${BOX.width} ${BOX.height}`);
  root._watch?.disconnect();
  root._watch = new ResizeObserver(() => {
    if (svg.clientWidth >= 320 && Math.abs(svg.clientWidth - BOX.width) > 1) render(component);
  });
  root._watch.observe(svg);
  const slider = root.querySelector("input[type=range]");
  const told = root.querySelector(".told");
  const legend = root.querySelector(".groups");
  const { colours, locked, groups, edges, rows, lines, words, side, unit, name, mirrored } = data;
  const positions = new Float32Array(bytes(data.positions));
  const tables = Object.fromEntries(Object.entries(data.tables).map(([key, text]) => [key, new Float32Array(bytes(text))]));
  const [least, most] = data.range;
  if (root._id !== data.id) Object.assign(root, { _id: data.id, _at: data.start });
  const drag = new Drag(() => root._at);

  const x = (value) => BOX.left + (BOX.width - BOX.left - BOX.right) * (value - least) / (most - least || 1);
  const floor = BOX.height - BOX.bottom;

  // side "ge": the first position at or above the line flags; "gt": what exceeds the line does, so the last at or below it
  function place(wanted) {
    const value = Math.fround(wanted); // positions are 32-bit: a line that stands on one must find it
    let [low, high] = [0, positions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (side === "ge" ? positions[middle] < value : positions[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return side === "ge" ? Math.min(low, positions.length - 1) : Math.max(low - 1, 0);
  }

  function filled(template, at) {
    return template.replace(/\{(\w+)\|(\w+)\}/g, (_, key, format) => {
      if (key === "at") return FORMATS[format](root._at);
      const value = tables[key][at];
      if (format === "word") return words[key][Math.round(value)] ?? "–";
      return Number.isFinite(value) ? FORMATS[format](value) : "–";
    });
  }

  function axis() {
    node("line", { x1: BOX.left, x2: BOX.width - BOX.right, y1: floor, y2: floor, stroke: colours.muted }, svg);
    const step = 10 ** Math.floor(Math.log10((most - least || 1) / 4));
    const wide = [1, 2, 5, 10].map((k) => k * step).find((k) => (most - least) / k <= 8) ?? 10 * step;
    for (let at = Math.ceil(least / wide); at * wide <= most + 1e-9; at += 1) {
      const tick = at * wide;
      node("line", { x1: x(tick), x2: x(tick), y1: floor, y2: floor + 5, stroke: colours.muted }, svg);
      const shown = node("text", { x: x(tick), y: floor + 20, "text-anchor": "middle", fill: colours.muted, "font-size": 14 }, svg);
      shown.textContent = tickText(data.scale * tick, data.scale * wide);
    }
    const label = node("text", { x: BOX.width - BOX.right, y: floor + 33, "text-anchor": "end", fill: colours.muted,
      "font-size": 13 }, svg);
    label.textContent = unit;
  }

  function histogram() {
    const highest = Math.max(...groups.flatMap((group) => group.shares), 1e-9);
    const tall = (floor - BOX.top) / 2 - 4;
    const middle = BOX.top + tall + 4;
    groups.forEach((group, g) => {
      const up = g === 0;
      group.shares.forEach((share, i) => {
        const height = tall * share / highest;
        node("rect", { x: x(edges[i]) + 0.5, width: Math.max(x(edges[i + 1]) - x(edges[i]) - 1, 0.5), height,
          y: up ? middle - height : middle + 1, fill: colours[group.colour] }, svg);
      });
    });
    node("line", { x1: BOX.left, x2: BOX.width - BOX.right, y1: middle, y2: middle, stroke: colours.grid }, svg);
  }

  function intervals() {
    const tall = (floor - BOX.top) / Math.max(rows.length, 1);
    node("line", { x1: x(0), x2: x(0), y1: BOX.top, y2: floor, stroke: colours.muted, "stroke-dasharray": "3 4" }, svg);
    rows.forEach((row, r) => {
      const y = BOX.top + tall * (r + 0.62);
      if (Number.isFinite(row.low)) {
        node("line", { x1: x(Math.max(row.low, least)), x2: x(Math.min(row.high, most)), y1: y, y2: y, "stroke-width": 5,
          stroke: colours[row.colour], "stroke-linecap": "round" }, svg);
      }
      if (Number.isFinite(row.value)) node("circle", { cx: x(row.value), cy: y, r: 7, fill: colours[row.colour] }, svg);
    });
  }

  svg.replaceChildren();
  if (rows) intervals(); else histogram();
  axis();
  for (const mark of data.marks) {
    if (!(mark.x >= least && mark.x <= most)) continue;
    node("line", { x1: x(mark.x), x2: x(mark.x), y1: BOX.top, y2: floor, stroke: colours.floor, "stroke-dasharray": "2 5",
      "stroke-width": 2 }, svg);
    const right = x(mark.x) > BOX.width * 0.75;
    const text = node("text", { x: x(mark.x) + (right ? -6 : 6), y: BOX.top + 14 + 16 * (mark.row ?? 0), fill: colours.muted, "font-size": 13,
      "text-anchor": right ? "end" : "start" }, svg);
    text.textContent = mark.label;
  }
  const stroke = { y1: BOX.top, y2: floor, stroke: colours.artifact, "stroke-width": 4 };
  const sides = mirrored ? [1, -1] : [1];
  const ghosts = sides.map(() => node("line", { ...stroke, opacity: 0.3, visibility: "hidden" }, svg));
  const current = sides.map(() => node("line", { ...stroke, "stroke-linecap": "round" }, svg));
  (rows ?? []).forEach((row, r) => { // over the lines, on a ground that interrupts them
    const tall = (floor - BOX.top) / rows.length;
    const ground = node("rect", { fill: "var(--st-background-color)" }, svg);
    const text = node("text", { x: BOX.left, y: BOX.top + tall * (r + 0.34), fill: colours.text, "font-size": 15 }, svg);
    text.textContent = row.label;
    const box = text.getBBox();
    Object.entries({ x: box.x - 4, y: box.y - 2, width: box.width + 8, height: box.height + 4 })
      .forEach(([key, value]) => ground.setAttribute(key, value));
  });
  legend.replaceChildren(...groups.map((group) => {
    const entry = document.createElement("span");
    const dot = document.createElement("i");
    dot.style.background = colours[group.colour];
    entry.append(dot, document.createTextNode(group.label));
    return entry;
  }));

  function moved(drawn, value) {
    drawn.forEach((line, i) => {
      line.setAttribute("x1", x(sides[i] * value));
      line.setAttribute("x2", x(sides[i] * value));
    });
  }

  const shown = lines.map((_, i) => {
    const line = document.createElement("div");
    line.className = i ? "line" : "line first";
    return line;
  });
  told.replaceChildren(...shown);
  slider.min = String(mirrored ? Math.max(least, 0) : least);
  slider.max = String(most);
  slider.step = String((most - least) / 1000 || 1);
  slider.disabled = Boolean(locked);
  root.querySelector(".name").textContent = name;

  function paint() {
    const at = place(root._at);
    moved(current, root._at);
    write(root.querySelector(".value"), filled(data.shown, at));
    lines.forEach((template, i) => write(shown[i], filled(template, at)));
    slider.value = String(root._at);
    root.dataset.painted = String(performance.now());
  }

  function goTo(value, moving = true) {
    drag.step(() => { root._at = Math.min(Math.max(value, Number(slider.min)), most); });
    moved(ghosts, drag.from);
    if (!moving) drag.release();
    ghosts.forEach((line) => line.setAttribute("visibility", drag.isOn ? "visible" : "hidden"));
    paint();
  }

  function handled(value) {
    goTo(value);
    shared.moving();
  }

  function release() {
    const move = drag.release();
    if (move === null) return;
    setTriggerValue("moved", { control: data.control, ...move, cutoff: root._at });
    ghosts.forEach((line) => line.setAttribute("visibility", "hidden"));
    shared.released();
  }

  const shared = shareBoard(root, data.board, {
    at: () => ({ at: root._at }),
    show: (at, moving) => { if (!locked && Number.isFinite(at.at)) goTo(at.at, moving); },
    isSettled: () => Boolean(locked) || root._at === data.start,
    settle: () => setTriggerValue("moved", { control: data.control, from: data.start, to: root._at, cutoff: root._at }),
  });

  function under(event) {
    const box = svg.getBoundingClientRect();
    const inside = BOX.width * (event.clientX - box.left) / box.width;
    const value = least + (most - least) * (inside - BOX.left) / (BOX.width - BOX.left - BOX.right);
    return mirrored ? Math.abs(value) : value;
  }

  svg.onpointerdown = (event) => { if (!locked) { svg.setPointerCapture(event.pointerId); handled(under(event)); } };
  svg.onpointermove = (event) => { if (drag.isOn && event.buttons) handled(under(event)); };
  svg.onpointerup = release;
  slider.oninput = () => handled(Number(slider.value));
  slider.onchange = release;

  function decide() {
    setTriggerValue("decision", { sentences: shown.map((line) => line.textContent).filter(Boolean), cutoff: root._at });
  }
  offerRecord(root, root.querySelector("button"), decide);
  paint();
  shared.drawn();
  return () => { shared.stop(); root._watch.disconnect(); };
}
