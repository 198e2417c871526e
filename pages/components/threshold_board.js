// The threshold board: every number, outcome and sentence was made by flipcore for a grid of levels; dragging only looks
// another column up and puts the number and its interval into the sentence that belongs to it.
const SIGNS = { a: "✓ artifact", b: "✓ reference", e: "✓ both artifact", g: "✓ genuine", m: "A > G", u: "–", l: "A < G" };
const STATES = { a: "yes", b: "yes", e: "yes", g: "no", m: "open", l: "open", u: "open", f: "none", x: "none", r: "reference", w: "withheld" };
const BECOMES = { a: "artifact", b: "artifact of the reference", e: "artifact of both extractors", g: "genuine", m: "A above G", u: "undecided", l: "A below G" };
const WHISKERS = ["lead", "total"];

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".board");
  const slider = root.querySelector("input[type=range]");
  const shown = root.querySelector(".level");
  const list = root.querySelector(".rows");
  const headline = root.querySelector(".headline");
  const tally = root.querySelector(".tally");
  const selects = Object.fromEntries([...root.querySelectorAll("select")].map((s) => [s.name, s]));
  const { levels, rows, tables, wording, quantities, options, colours, locked } = data;
  const state = root._state ?? (root._state = { at: data.start, ...data.chosen });
  const decoded = new Map();
  const drag = new Drag(() => state.at);
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
      shared.released();
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
      decoded.set(name, { ...t, low: new Float64Array(bytes(t.low)), high: new Float64Array(bytes(t.high)) });
    }
    return decoded.get(name);
  }

  function view() {
    return { level: levels[state.at], reference: state.reference, policy: state.policy, kind: state.kind, rule: state.rule };
  }

  // limits lie as [quantity][row][level]
  function limit(t, side, quantity, row) {
    return t[side][(quantities.indexOf(quantity) * rows.length + row) * levels.length + state.at];
  }

  function words() {
    return wording[`${state.reference}|${state.policy}`];
  }

  function outcome(t, row) {
    return t.verdicts[state.rule].outcomes[row][state.at];
  }

  // the part that the row's sentence leads with
  function leadOf(t, row) {
    return words().rows[row].leads[outcome(t, row)] ?? "T";
  }

  // a sentence of a row with its leading number at this level
  function filled(t, row, sentence) {
    const name = leadOf(t, row);
    const value = t[name][row] ?? NaN;
    return sentence.replace("{lead}", percentInterval(value, limit(t, "low", name, row), limit(t, "high", name, row)));
  }

  function sentence(t, row) {
    return filled(t, row, words().rows[row].sentences[outcome(t, row)] ?? "");
  }

  // the same behind the row's own title, which its claim begins with
  function shortened(row, text) {
    for (const start of [`${row.label}: `, `${row.label} is `]) {
      if (!text.toLowerCase().startsWith(start.toLowerCase())) continue;
      const rest = text.slice(start.length);
      return rest[0].toUpperCase() + rest.slice(1);
    }
    return text;
  }

  function leading(t) {
    const row = t.verdicts[state.rule].headline[state.at];
    return row < 0 ? words().instead : sentence(t, row);
  }

  const parts = [];

  function build() {
    const t = table();
    list.replaceChildren();
    parts.length = 0;
    if (!t) {
      list.textContent = "Counting for these settings …";  // of many items only what is chosen comes with the page
      return;
    }
    markChanges(slider, changes(t));
    list.appendChild(axis());
    rows.forEach((row, r) => {
      if (row.hidden) return;  // rows over all axes carry the headline and come last
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
      if (t.n[r]) size.textContent = `${numberText(t.n[r], 0)} item${t.n[r] === 1 ? "" : "s"}`;
      const sentence = document.createElement("div");
      sentence.className = "sentence";
      text.append(title, size, sentence);
      text.tabIndex = 0;
      text.setAttribute("role", "button");
      text.title = "Open the outputs behind this row";
      box.classList.toggle("opened", row.id === data.opened);
      const open = () => {
        for (const one of list.children) one.classList.toggle("opened", one === box);
        setTriggerValue("row", row.id);
      };
      text.onclick = open;
      text.onkeydown = (event) => { if (event.key === "Enter") open(); };
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 400 46");
      svg.setAttribute("preserveAspectRatio", "none");
      box.append(sign, text, svg);
      list.appendChild(box);
      parts.push({ sign, sentence, ...bar(svg, t, r) });
    });
    paint();
  }

  // above the bars: what their length is
  function axis() {
    const line = document.createElement("div"), ticks = document.createElement("div"), of = document.createElement("div");
    line.className = "axis";
    ticks.className = "ticks";
    of.textContent = "share of pairs";
    for (const tick of ["0", "25", "50", "75", "100%"]) {
      const label = document.createElement("span");
      label.textContent = tick;
      ticks.append(label);
    }
    line.append(document.createElement("span"), of, ticks);
    return line;
  }

  // from the left: under the compared extractor alone, under both, under the reference alone
  function bar(svg, t, r) {
    const x = (value) => 4 + 392 * Math.min(Math.max(value, 0), 1);
    const [alone, both, reference] = words().rows[r].parts;
    node("line", { x1: 4, x2: 396, y1: 34, y2: 34, stroke: colours.grid, "stroke-width": 1 }, svg);
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      node("line", { x1: x(tick), x2: x(tick), y1: 31, y2: 37, stroke: colours.grid, "stroke-width": 1 }, svg);
    }
    if (Number.isFinite(t.T[r])) {
      const ends = [0, alone, alone + both, alone + both + reference].map(x);
      [[colours.artifact, 1], [colours.genuine, 1], [colours.genuine, 0.45]].forEach(([fill, opacity], i) => {
        node("rect", { x: ends[i], width: Math.max(ends[i + 1] - ends[i], 0), y: 8, height: 18, fill, opacity }, svg);
      });
      for (const floor of [t.floor_T[r], t.reference_rows[r] ? NaN : alone + t.floor_G[r]]) {
        if (Number.isFinite(floor) && t.floor_T[r] !== null) {
          node("line", { x1: x(floor), x2: x(floor), y1: 3, y2: 31, stroke: colours.floor, "stroke-width": 2.5 }, svg);
        }
      }
    }
    const whisker = (y, colour, opacity) => node("line", { y1: y, y2: y, stroke: colour, "stroke-width": 4,
      "stroke-linecap": "round", opacity }, svg);
    return { x, ghost: { lead: whisker(39, colours.artifact, 0.25), total: whisker(44, colours.text, 0.2) },
      whisker: { lead: whisker(39, colours.artifact, 1), total: whisker(44, colours.text, 0.7) } };
  }

  function span(line, x, low, high) {
    const there = Number.isFinite(low) && Number.isFinite(high);
    line.setAttribute("visibility", there ? "visible" : "hidden");
    if (!there) return;
    line.setAttribute("x1", x(low));
    line.setAttribute("x2", x(high));
  }

  // each level from which a row, or the sentence above them, says something else
  function changes(t) {
    const { outcomes, headline: leads } = t.verdicts[state.rule];
    const found = [];
    for (let at = 1; at < levels.length; at += 1) {
      const level = percentText(levels[at], levels[at] > 0.989 ? 1 : 0);
      rows.forEach((row, r) => {
        const [before, after] = [outcomes[r][at - 1], outcomes[r][at]];
        if (before === after || !(after in BECOMES)) return;
        const name = row.hidden ? "the headline" : row.label;
        if (row.hidden && r !== leads[at]) return;
        found.push({ at, text: `at ${level} ${name} becomes ${BECOMES[after]}` });
      });
    }
    return found;
  }

  function spans(t, r, lines, x) {
    for (const which of WHISKERS) {
      const leads = words().rows[r].leads[outcome(t, r)];  // none in a row of the reference: its total is all there is
      const name = which === "total" ? "T" : leads;
      span(lines[which], x, name ? limit(t, "low", name, r) : NaN, name ? limit(t, "high", name, r) : NaN);
    }
  }

  function paint() {
    const t = table();
    write(shown, percentText(levels[state.at], levels[state.at] > 0.989 ? 1 : 0));
    if (!t) return;
    const old = state.at;
    write(root.querySelector(".set"), Object.values(selects)
      .filter((select) => !select.parentElement.hidden && select.selectedOptions.length)
      .map((select) => select.selectedOptions[0].textContent).join(" · "));
    write(headline, unbroken(leading(t)));
    const at = t.verdicts[state.rule];
    write(tally, at.tallies[at.tally[state.at]]);
    parts.forEach((part, r) => {
      const said = outcome(t, r);
      write(part.sign, SIGNS[said] ?? "");
      part.sign.dataset.verdict = STATES[said];
      write(part.sentence, unbroken(shortened(rows[r], sentence(t, r))));
      write(part.sentence, `${words().rows[r].detail} Click to open the outputs behind it.`, "title");
      spans(t, r, part.whisker, part.x);
      if (drag.isOn) {
        state.at = drag.from;
        spans(t, r, part.ghost, part.x);
        state.at = old;
      } else {
        for (const which of WHISKERS) part.ghost[which].setAttribute("visibility", "hidden");
      }
    });
    root.dataset.painted = String(performance.now());
  }

  slider.oninput = () => {
    drag.step(() => { state.at = Number(slider.value); });
    paint();
    shared.moving();
  };
  slider.onchange = () => {
    const move = drag.release((place) => levels[place]);
    if (move === null) return;
    setTriggerValue("moved", { control: "level", ...move, ...view() });
    paint();
    shared.released();
  };

  // what a presenter sent, as far as this board has it
  function show(at, moving) {
    if (locked) return;
    const changed = Object.keys(selects).filter((name) => options[name]?.some(([value]) => value === at[name])
      && state[name] !== at[name]);
    for (const name of changed) selects[name].value = state[name] = at[name];
    drag.step(() => { state.at = levels[at.at] === undefined ? state.at : at.at; });
    if (!moving) drag.release();
    slider.value = state.at;
    if (changed.length) build(); else paint();
    if (changed.length && !table()) settle();
  }

  function settle() {
    setTriggerValue("moved", { control: "level", from: levels[data.start], to: levels[state.at], ...view() });
  }

  const shared = shareBoard(root, data.board, {
    at: () => ({ at: state.at, ...Object.fromEntries(Object.keys(selects).map((name) => [name, state[name]])) }),
    show,
    isSettled: () => Boolean(locked) || (state.at === data.start && Object.keys(selects).every((name) => state[name] === data.chosen[name])),
    settle,
  });

  function decide() {
    const t = table();
    if (!t) return;
    const rank = { a: 0, e: 0, b: 1, g: 1, m: 2, l: 2, u: 3, f: 4, x: 5, r: 6 };
    const order = parts.map((part, r) => r).filter((r) => outcome(t, r) in rank)
      .sort((a, b) => rank[outcome(t, a)] - rank[outcome(t, b)] || t.A[b] - t.A[a]);
    const kept = [leading(t), ...order.map((r) => sentence(t, r))];
    const what = state.kind === "simultaneous" ? "band" : "intervals";
    setTriggerValue("decision", { sentences: kept.map((one) => `${one} (${shown.textContent} ${what})`), ...view() });
  }
  offerRecord(root, root.querySelector(".controls > button"), decide);
  build();
  shared.drawn();
  return () => shared.stop();
}
