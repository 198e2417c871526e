// The threshold board: every number was computed by flipcore for a grid of levels; dragging only looks another column up.
const SVG = "http://www.w3.org/2000/svg";
const SIGNS = { yes: "✓ A > G", open: "–", no: "✗ A < G" };
const WORDS = {
  yes: "more of it is artifact than genuine",
  open: "which part is larger is undecided",
  no: "more of it is genuine than artifact",
  none: "too few items for an interval",
};

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

function number(x) {
  if (!Number.isFinite(x)) return "–";
  // a tie at the second digit is an odd number of eighths; it goes to the even digit, as in the tables
  x = Number(x.toPrecision(12));
  const tie = Number.isInteger(8 * x) && !Number.isInteger(4 * x);
  const hundredths = Math.floor(Math.abs(100 * x));
  const near = tie ? (Math.sign(x) * (hundredths + (hundredths % 2))) / 100 : x;
  const rounded = near.toFixed(2).replace("-0.00", "0.00");
  return rounded.replace("-", "−");
}

function node(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.appendChild(made);
  return made;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".board");
  const slider = root.querySelector("input[type=range]");
  const shown = root.querySelector(".level");
  const list = root.querySelector(".rows");
  const selects = Object.fromEntries([...root.querySelectorAll("select")].map((s) => [s.name, s]));
  const { levels, rows, tables, options, colours, locked } = data;
  const state = root._state ?? (root._state = { at: data.start, ...data.chosen });
  const decoded = new Map();
  let dragged = null;
  for (const name of ["artifact", "genuine"]) root.style.setProperty(`--${name}`, colours[name]);

  for (const [name, select] of Object.entries(selects)) {
    const wanted = options[name] ?? [];
    select.replaceChildren(...wanted.map(([value, label]) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = label;
      return option;
    }));
    if (!wanted.some(([value]) => value === state[name])) state[name] = wanted[0]?.[0];
    select.value = state[name];
    select.disabled = Boolean(locked);
    select.parentElement.hidden = wanted.length < 2;
    select.onchange = () => {
      const from = state[name];
      state[name] = select.value;
      build();
      setTriggerValue("moved", { control: name, from, to: select.value, ...view() });
    };
  }

  slider.min = 0;
  slider.max = levels.length - 1;
  slider.step = 1;
  slider.value = state.at;
  slider.disabled = Boolean(locked);

  function table() {
    const name = `${state.reference}|${state.policy}|${state.kind}`;
    if (!decoded.has(name) && tables[name]) {
      const t = tables[name];
      decoded.set(name, { ...t, low: floats(t.low), high: floats(t.high) });
    }
    return decoded.get(name);
  }

  function view() {
    return { level: levels[state.at], reference: state.reference, policy: state.policy, kind: state.kind, rule: state.rule };
  }

  // limits lie as [quantity][row][level]; quantities in the order T, G, A, A - G
  function limit(t, side, quantity, row) {
    return t[side][(quantity * rows.length + row) * levels.length + state.at];
  }

  function verdict(t, row) {
    if (t.reference_rows[row]) return "reference";
    const low = limit(t, "low", 3, row);
    const high = limit(t, "high", 3, row);
    if (!Number.isFinite(low)) return "none";
    if (state.rule === "nonoverlap") {
      if (limit(t, "low", 2, row) > limit(t, "high", 1, row)) return "yes";
      return limit(t, "high", 2, row) < limit(t, "low", 1, row) ? "no" : "open";
    }
    if (low > 0) return "yes";
    return high < 0 ? "no" : "open";
  }

  const parts = [];

  function build() {
    const t = table();
    list.replaceChildren();
    parts.length = 0;
    if (!t) {
      list.textContent = "This combination was not computed: the reference readout is absent.";
      return;
    }
    rows.forEach((row, r) => {
      const box = document.createElement("div");
      box.className = "row";
      const sign = document.createElement("span");
      sign.className = "sign";
      const text = document.createElement("div");
      text.className = "text";
      const title = document.createElement("b");
      title.textContent = row.label;
      const size = document.createElement("span");
      size.className = "size";
      if (t.n[r]) size.textContent = `${t.n[r].toLocaleString("en")} item${t.n[r] === 1 ? "" : "s"}`;
      const sentence = document.createElement("div");
      sentence.className = "sentence";
      text.append(title, size, sentence);
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 400 46");
      svg.setAttribute("preserveAspectRatio", "none");
      box.append(sign, text, svg);
      list.appendChild(box);
      parts.push({ sign, sentence, ...bar(svg, t, r) });
    });
    paint();
  }

  function bar(svg, t, r) {
    const x = (value) => 4 + 392 * Math.min(Math.max(value, 0), 1);
    const [g, a, total] = [t.G[r], t.A[r], t.T[r]];
    node("line", { x1: 4, x2: 396, y1: 34, y2: 34, stroke: colours.grid, "stroke-width": 1 }, svg);
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      node("line", { x1: x(tick), x2: x(tick), y1: 31, y2: 37, stroke: colours.grid, "stroke-width": 1 }, svg);
    }
    if (Number.isFinite(total)) {
      node("rect", { x: x(0), width: Math.max(x(Math.min(g, total)) - x(0), 0), y: 8, height: 18, fill: colours.genuine }, svg);
      const left = Math.min(g, total);
      node("rect", { x: x(left), width: Math.max(x(Math.max(g, total)) - x(left), 0), y: 8, height: 18,
        fill: a < 0 ? "none" : colours.artifact, stroke: colours.artifact, "stroke-dasharray": a < 0 ? "4 3" : "none" }, svg);
      for (const floor of [t.floor_G[r], t.floor_T[r]]) {
        if (Number.isFinite(floor)) {
          node("line", { x1: x(floor), x2: x(floor), y1: 3, y2: 31, stroke: colours.floor, "stroke-width": 2.5 }, svg);
        }
      }
    }
    const whisker = (y, colour, opacity) => node("line", { y1: y, y2: y, stroke: colour, "stroke-width": 4,
      "stroke-linecap": "round", opacity }, svg);
    return { x, ghostG: whisker(39, colours.genuine, 0.25), ghostA: whisker(44, colours.artifact, 0.25),
      whiskerG: whisker(39, colours.genuine, 1), whiskerA: whisker(44, colours.artifact, 1) };
  }

  function span(line, x, low, high) {
    const there = Number.isFinite(low) && Number.isFinite(high);
    line.setAttribute("visibility", there ? "visible" : "hidden");
    if (!there) return;
    line.setAttribute("x1", x(low));
    line.setAttribute("x2", x(high));
  }

  function told(t, r, interval, said) {
    if (t.A[r] < 0) {
      return `flips less (${number(t.T[r])}) than the reference (${number(t.G[r])}${interval(1)}): artifact ${number(t.A[r])}${
        interval(2)}: ${WORDS[said]}`;
    }
    return `${number(t.A[r])}${interval(2)} of the ${number(t.T[r])} flip rate is artifact, ${number(t.G[r])}${
      interval(1)} genuine: ${WORDS[said]}`;
  }

  function paint() {
    const t = table();
    shown.textContent = `${(100 * levels[state.at]).toFixed(levels[state.at] > 0.989 ? 1 : 0)} %`;
    if (!t) return;
    const old = state.at;
    parts.forEach((part, r) => {
      const said = verdict(t, r);
      part.sign.textContent = said === "reference" ? "" : SIGNS[said] ?? "";
      part.sign.dataset.verdict = said;
      part.sign.title = WORDS[said] ?? "";
      const interval = (q) => {
        const low = limit(t, "low", q, r);
        return Number.isFinite(low) ? ` [${number(low)}, ${number(limit(t, "high", q, r))}]` : "";
      };
      part.sentence.textContent = said === "reference"
        ? `the reference readout: ${number(t.T[r])}${interval(0)} flips, all of it counted as genuine${
          Number.isFinite(t.floor_T[r]) ? `; sent again alone ${number(t.floor_T[r])}` : ""}`
        : Number.isFinite(t.T[r]) ? told(t, r, interval, said)
          : "no item has at least two readable variants under both readouts";
      span(part.whiskerG, part.x, limit(t, "low", 1, r), limit(t, "high", 1, r));
      span(part.whiskerA, part.x, limit(t, "low", 2, r), limit(t, "high", 2, r));
      if (dragged !== null) {
        state.at = dragged.from;
        span(part.ghostG, part.x, limit(t, "low", 1, r), limit(t, "high", 1, r));
        span(part.ghostA, part.x, limit(t, "low", 2, r), limit(t, "high", 2, r));
        state.at = old;
      } else {
        part.ghostG.setAttribute("visibility", "hidden");
        part.ghostA.setAttribute("visibility", "hidden");
      }
    });
    root.dataset.painted = String(performance.now());
  }

  slider.oninput = () => {
    dragged ??= { from: state.at, lowest: state.at, highest: state.at };
    state.at = Number(slider.value);
    dragged.lowest = Math.min(dragged.lowest, state.at);
    dragged.highest = Math.max(dragged.highest, state.at);
    paint();
  };
  slider.onchange = () => {
    if (dragged === null) return;
    setTriggerValue("moved", { control: "level", from: levels[dragged.from], to: levels[state.at],
      lowest: levels[dragged.lowest], highest: levels[dragged.highest], ...view() });
    dragged = null;
    paint();
  };

  function write() {
    const t = table();
    if (!t) return;
    const rank = { yes: 0, no: 1, open: 2, none: 3, reference: 4 };
    const order = parts.map((part, r) => r).sort((a, b) => rank[verdict(t, a)] - rank[verdict(t, b)]
      || t.A[b] - t.A[a]);
    const sentences = order.map((r) => [parts[r], r]).map(([part, r]) => `On ${rows[r].label}: ${part.sentence.textContent} (${
      shown.textContent} ${state.kind === "simultaneous" ? "band" : "intervals"}).`);
    setTriggerValue("decision", { sentences, ...view() });
  }
  root.querySelector("button").onclick = write;
  root.onkeydown = (event) => { if (event.key === "w" && event.target.tagName !== "SELECT") write(); };
  build();
}
