// A board changes while a level, a margin or a cut-off is dragged. `flipcore.reports.browser_data.board` computes its handles, rows
// and sentences for every position; this script only looks them up and draws them.
const FRAME_MS = 16;
const SVG = "http://www.w3.org/2000/svg";
const FORMATS = {
  whole: (x) => numberText(x, 0),
  number: (x) => numberText(x),
  fine: (x) => numberText(x, 3),
  percent: (x) => percentText(x, 1),
  points: (x) => `${numberText(100 * x, 1)} points`,
};
const DOTS = {  // shape and color of a score's dot
  wording: ["M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0", "text"],
  reader: ["M0 -7L7 0L0 7L-7 0Z", "artifact"],
  own: ["M-5.5 -5.5H5.5V5.5H-5.5Z", "fixed"],
  published: ["M-7 -6H7L0 7Z", "broken"],
};
const NESTED = {  // color and width of a score's interval, from inside out
  reruns: ["benchmark", 28], questions: ["genuine", 20], wordings: ["control", 12], elsewhere: ["muted", 2],
};
const NEAR_PX = 13;  // two dots that are nearer would cover each other
const MAX_RANKS = 12;  // with more models, ranks are written but not drawn

function node(name, attributes, parent, text = "") {
  const child = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
  child.textContent = text;
  parent.appendChild(child);
  return child;
}

function element(name, className, text, parent) {
  const child = document.createElement(name);
  child.className = className;
  child.textContent = text;
  parent.appendChild(child);
  return child;
}

// Setting a text costs a layout even if it is the same text, and in a meeting many screens draw at once.
function write(target, text, what = "textContent") { if (target[what] !== text) target[what] = text; }

// a p-value stays on one line
function unbroken(text) { return text.replace(/p ([=<>]) /g, "p\u00a0$1\u00a0"); }

function unpacked(text, Numbers) { return new Numbers(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer); }

// Return the value at a position; `steps` is [[first position of a value, value], ...].
function stepAt(steps, position) {
  let current;
  for (const [first, value] of steps ?? []) {
    if (first > position) break;
    current = value;
  }
  return current;
}

// Return the index of the value that is nearest to a number; for anything else, the index of null.
function nearest(values, number) {
  if (typeof number !== "number") return values.indexOf(null);
  const distance = (i) => (values[i] === null ? Infinity : Math.abs(values[i] - number));
  return values.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}

// Fill in a template. `find` returns the number of a name, or [value, low, high] for an interval.
function filled(template, find) {
  return template.replace(/\{(\w+)(?:\|(\w+))?\}/g, (whole, name, format) => {
    const value = find(name);
    if (value === undefined) return whole;
    if (Array.isArray(value)) return (format === "likely" ? likelyPercent : percentInterval)(...value);
    if (!format) return value;
    return Number.isFinite(value) ? FORMATS[format](value) : MISSING;
  });
}

// Return a function that calls `act` with the newest argument, at most once per frame; the first call does not wait.
function framed(act) {
  let [frame, last, actedAt] = [0, null, -FRAME_MS];
  const now = () => { frame = 0; actedAt = performance.now(); act(last); };
  const take = (newest) => {
    last = newest;
    if (frame) return;
    if (performance.now() - actedAt > FRAME_MS) now(); else frame = requestAnimationFrame(now);
  };
  take.stop = () => { cancelAnimationFrame(frame); frame = 0; };
  return take;
}

// A handle is a slider over stops (`values`), or over all numbers of a range (`isLine`). `at` is the slider's number: the index of a
// stop, or the number itself. `drag` holds start, lowest and highest number of a drag. Both survive a redrawing of the board.
class Handle {
  constructor(control, value, drag) {
    Object.assign(this, { ...control, drag, isLine: Boolean(control.range) });
    if (this.isLine) this.changesAt = unpacked(control.positions, Float32Array);
    this.at = this.numberOf(value);
  }

  get ends() { return this.isLine ? this.range : [0, this.values.length - 1]; }
  get value() { return this.valueOf(this.at); }
  get position() { return this.positionOf(this.at); }
  get text() { return this.isLine ? filled(this.label, () => this.at) : this.labels[this.at]; }
  get from() { return this.drag.from === undefined ? null : this.positionOf(this.drag.from); }

  valueOf(number) { return this.isLine ? number : this.values[number]; }

  numberOf(value) {
    return this.isLine ? Math.min(Math.max(value, this.range[0]), this.range[1]) : nearest(this.values, value);
  }

  positionOf(number) {
    if (!this.isLine) return number;
    const value = Math.fround(number); // `changesAt` is 32-bit, and a line that stands exactly on a change must equal it
    let [low, high] = [0, this.changesAt.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.is_exceeded ? this.changesAt[middle] <= value : this.changesAt[middle] < value) low = middle + 1;
      else high = middle;
    }
    return this.is_exceeded ? Math.max(low - 1, 0) : Math.min(low, this.changesAt.length - 1);
  }

  step(number) {
    const { drag } = this;
    if (drag.from === undefined) drag.from = drag.lowest = drag.highest = this.at;
    this.at = number;
    drag.lowest = Math.min(drag.lowest, number);
    drag.highest = Math.max(drag.highest, number);
  }

  // Return the move to log; null if nothing was dragged.
  release() {
    const { from, lowest, highest } = this.drag;
    if (from === undefined) return null;
    delete this.drag.from;
    const [start, least, most] = [from, lowest, highest].map((number) => this.valueOf(number));
    return { control: this.logged_as ?? "level", from: start, to: this.value, lowest: least, highest: most };
  }
}

// Kind of picture -> function that draws it in a row's cell. `x` converts a value into a position on the axis.
const PICTURES = {
  // Flips from left to right: under the compared extractor alone, under both, under the reference alone.
  parts(board, cell, { parts, floors }, row) {
    const quarters = [0, 0.25, 0.5, 0.75, 1].map((tick) => [tick, ""]);
    const { svg, x } = board.canvas(cell, [0, 1], { height: 44, ticks: quarters, grid: [31, 37] });
    let end = 0;
    [["artifact", 1], ["genuine", 1], ["genuine", 0.45]].forEach(([color, opacity], i) => {
      if (parts[i] > 0) board.line(svg, { x1: x(end), x2: x(end + parts[i]), y: 16, width: 18, color, opacity });
      end += parts[i];
    });
    for (const floor of floors) if (floor !== null) board.upright(svg, x(floor), 2, 30, { width: 2.5, color: "floor" });
    const whisker = { width: 4, "stroke-linecap": "round" };
    board.moving(svg, x, row, (at) => board.limits(row, board.leadOf(row, at), at), { y: 37, color: "artifact", ...whisker });
    board.moving(svg, x, row, (at) => board.limits(row, "T", at), { y: 42, color: "text", opacity: 0.7, ...whisker });
  },

  nested(board, cell, { name, value, intervals }, row) {
    const { svg, x } = board.canvas(cell, board.data.scale, { height: 40, name });
    const shown = (text) => filled(`{x|${board.data.is_share ? "percent" : "number"}}`, () => text);
    for (const [key, interval] of Object.entries(intervals).reverse()) {
      const [color, width] = NESTED[key];
      const ends = (at) => board.ends(interval, at);
      const drawn = board.moving(svg, x, row, ends, { y: 20, width, color, hasCaps: key === "elsewhere" });
      const title = node("title", {}, drawn);
      board.painters.push(() => {
        const [low, high] = ends(board.positionOf(row));
        write(title, `${interval.title}: ${shown(low)} to ${shown(high)}`);
      });
    }
    const center = { cx: x(value), cy: 20, r: 6, fill: board.colors.page, stroke: board.colors.text, "stroke-width": 2 };
    node("title", {}, node("circle", center, svg), `Score ${shown(value)}`);
  },

  // Dots that would cover each other are stacked.
  dots(board, cell, { name, dots }) {
    const { scale: [low, high], opened } = board.data;
    const sorted = [...dots].sort((a, b) => a.value - b.value);
    const perUnit = (cell.clientWidth || 600) / (high - low);
    const lastOfLevel = [];
    const levels = sorted.map(({ value }) => {
      let level = lastOfLevel.findIndex((last) => (value - last) * perUnit > NEAR_PX);
      if (level < 0) level = lastOfLevel.length;
      lastOfLevel[level] = value;
      return level;
    });
    const height = 8 + 14 * lastOfLevel.length;
    const { svg, x } = board.canvas(cell, [low, high], { height, name });
    sorted.forEach((dot, i) => {
      const [shape, color] = DOTS[dot.kind];
      const isOpen = Boolean(opened) && opened === dot.id;
      const place = node("svg", { x: x(dot.value), y: height - 11 - 14 * levels[i], overflow: "visible" }, svg);
      const group = node("g", { class: "dot", role: "button", tabindex: 0, "aria-label": dot.text }, place);
      node("path", { d: shape, fill: board.colors[color], "fill-opacity": dot.kind === "wording" && !isOpen ? 0.75 : 1,
        stroke: board.colors[isOpen ? "text" : "page"], "stroke-width": isOpen ? 3 : 1 }, group);
      node("title", {}, group, dot.text);
      if (dot.opens) board.opening(group, dot.opens);
      if (dot.kind !== "reader") return;
      // Write the extractor's name next to its dot, on a side with enough space.
      const nameWidth = 7 * dot.title.length + 24;
      const isRight = ((sorted[i + 1]?.value ?? high) - dot.value) * perUnit > nameWidth;
      if (!isRight && (dot.value - (sorted[i - 1]?.value ?? low)) * perUnit < nameWidth) return;
      board.text(place, isRight ? 11 : -11, 4, dot.title, { "text-anchor": isRight ? "start" : "end", "font-size": 12.5 });
    });
  },

  // Ranks from left to right, the first rank at the left.
  rank(board, cell, { figure, rank, limits, of }, row) {
    element("span", "figure", figure, cell);
    cell.classList.toggle("first", rank === 1);
    if (rank !== null && of <= MAX_RANKS) {
      const places = Array.from({ length: of }, (_, i) => [i + 1, ""]);
      const { svg, x } = board.canvas(cell, [0.5, of + 0.5], { height: 26, width: 22 * of + 8, ticks: places, grid: [9, 17] });
      const ends = (at) => stepAt(limits, at);
      if (limits) board.moving(svg, x, row, ends, { y: 13, width: 6, color: "genuine", "stroke-linecap": "round" });
      node("circle", { cx: x(rank), cy: 13, r: 6, fill: "currentColor" }, svg);
    }
    const span = element("span", "span", rank !== null && !limits ? "not claimed" : "", cell);
    if (rank !== null && limits) {
      board.painters.push(() => {
        const [best, worst] = stepAt(limits, board.positionOf(row));
        write(span, best === worst ? `rank ${best}` : `rank ${best} to ${worst}`);
      });
    }
  },

  // The estimate with its bound, and the zone within the margin behind it.
  margin(board, cell, { name, value, bound, two_sided: isTwoSided, nothing, scale, ticks }, row) {
    const isNearEnd = (place) => Math.min(place - scale[0], scale[1] - place) < 0.15 * (scale[1] - scale[0]);
    const shown = ticks.filter(([place], i) => i < 2 || !isNearEnd(place)); // its text would cover that of the end
    const { svg, x } = board.canvas(cell, scale, { height: 46, name, ticks: shown, hasAxis: true, grid: null });
    const margin = (at) => row.control.values[at];
    const edge = (sign) => (at) => (margin(at) === null ? null : [sign * margin(at), sign * margin(at)]);
    const zone = (at) => (margin(at) === null ? null : [isTwoSided ? -margin(at) : scale[0], margin(at)]);
    board.moving(svg, x, row, zone, { y: 17, width: 26, color: "genuine", opacity: 0.13 });
    const border = { y1: 4, y2: 30, width: 2, color: "genuine" };
    for (const sign of isTwoSided ? [1, -1] : [1]) board.moving(svg, x, row, edge(sign), border);
    board.upright(svg, x(nothing), 2, 32, { width: 1.5, color: "floor", "stroke-dasharray": "2 2" });
    if (bound.every((end) => end !== null)) {
      board.line(svg, { x1: x(bound[0]), x2: x(bound[1]), y: 17, width: 3, color: "text" });
      for (const end of bound) board.upright(svg, x(end), 11, 23, { width: 3, color: "text" });
    }
    if (value !== null) node("circle", { cx: x(value), cy: 17, r: 5.5, fill: board.colors.text }, svg);
  },

  // The first set is drawn above the middle line, the second below.
  histogram(board, cell, picture) {
    const { groups, edges, marks } = picture;
    const { svg, x, floor } = board.canvas(cell, picture.scale, { ...picture, height: 256, hasAxis: true, grid: null });
    const [room, middle] = [(floor - 8) / 2 - 4, 8 + (floor - 8) / 2];
    const highest = Math.max(...groups.flatMap((group) => group.shares), 1e-9);
    groups.forEach((group, g) => group.shares.forEach((share, i) => {
      const gap = 0.04 * (edges[i + 1] - edges[i]);
      const tall = room * share / highest;
      const ends = { x1: x(edges[i] + gap), x2: x(edges[i + 1] - gap) };
      if (tall > 0) board.line(svg, { ...ends, y: middle + (g ? tall / 2 + 1 : -tall / 2), width: tall, color: group.color });
    }));
    board.line(svg, { x1: "0%", x2: "100%", y: middle, width: 1, color: "grid" });
    const [low, high] = picture.scale;
    for (const { value, label, row } of marks) {
      if (value < low || value > high) continue;
      const side = value > low + 0.75 * (high - low) ? { dx: -6, "text-anchor": "end" } : { dx: 6 };
      board.upright(svg, x(value), 8, floor, { width: 2, color: "floor", "stroke-dasharray": "2 5" });
      board.text(svg, x(value), 22 + 16 * row, label, side);
    }
    board.dragged(svg, x, floor, picture);
  },

  gaps(board, cell, picture) {
    const { svg, x, floor } = board.canvas(cell, picture.scale, { ...picture, height: 256, hasAxis: true, grid: null });
    const tall = (floor - 8) / Math.max(picture.rows.length, 1);
    board.upright(svg, x(0), 8, floor, { width: 1, color: "muted", "stroke-dasharray": "3 4" });
    picture.rows.forEach(({ value, low, high, color }, i) => {
      const y = 8 + tall * (i + 0.62);
      if (low !== null) board.line(svg, { x1: x(low), x2: x(high), y, width: 5, color, "stroke-linecap": "round" });
      node("circle", { cx: x(value), cy: y, r: 7, fill: board.colors[color] }, svg);
    });
    board.dragged(svg, x, floor, picture);
    // Labels cover the lines, on a background that interrupts them.
    const ground = { "paint-order": "stroke", stroke: "var(--st-background-color)", "stroke-width": 8, fill: board.colors.text };
    picture.rows.forEach(({ label }, i) => board.text(svg, 8, 8 + tall * (i + 0.34), label, { ...ground, class: "gap" }));
  },

  ways(board, cell, picture) { board.curve = new Curve(board, cell, picture); },

  axis(board, cell, picture) {
    board.canvas(cell, board.data.scale, { ...picture, height: 20, hasAxis: true, grid: null });
  },
};

class Board {
  constructor(root, data, send) {
    Object.assign(this, { root, data, send, colors: data.colours, decoded: new Map(), painters: [], drawn: [] });
    for (const name of ["says", "lines", "legend", "choices", "set"]) this[name] = root.querySelector(`.${name}`);
    [this.head, this.body] = [root.querySelector("thead"), root.querySelector("tbody")];
    this.controls = [...(data.controls ?? []), ...(data.rows.by ? [] : data.rows).flatMap(({ control }) => control ?? [])];
    const choices = (data.choices ?? []).map(({ name, chosen }) => [name, chosen]);
    this.starts = Object.fromEntries([...this.controls.map(({ name, start }) => [name, start]), ...choices]);
    this.takeStarts();
    this.handles = this.controls.map((control) => new Handle(control, root._view[control.name], root._drags[control.name] ??= {}));
    root.className = `board ${data.kind}`;
    for (const [name, color] of Object.entries(this.colors)) root.style.setProperty(`--${name}`, color);
  }

  // The server sends the settings of an earlier message back as starts. If a handle has moved since, it stays where it is.
  takeStarts() {
    const { root } = this;
    const text = JSON.stringify(this.starts);
    const sent = root._sent ?? [];
    if (root._starts !== text && !sent.includes(text)) Object.assign(root, { _view: { ...this.starts }, _drags: {} });
    Object.assign(root, { _starts: text, _sent: sent.at(-1) === text ? [] : sent });
  }

  // Return a part of the data that may depend on the choices.
  part(chosen) { return chosen?.by ? chosen.parts[chosen.by.map((name) => this.root._view[name]).join("|")] : chosen; }

  handleOf(row) { return this.handles.find(({ name }) => name === (row?.control ?? this.controls[0])?.name); }

  positionOf(row) { return this.handleOf(row)?.position ?? 0; }

  numbersOf(text, Numbers) {
    if (!this.decoded.has(text)) this.decoded.set(text, unpacked(text, Numbers));
    return this.decoded.get(text);
  }

  ends(interval, at) {
    return [interval?.low, interval?.high].map((side) => (side ? this.numbersOf(side, Float64Array)[at] : NaN));
  }

  interval(row, name) { return this.intervals?.[row.index]?.[name]; }

  limits(row, name, at) { return this.ends(this.interval(row, name), at); }

  outcomeOf(row, at) { return stepAt(row.outcomes, at); }

  leadOf(row, at) { return row.leads?.[this.outcomeOf(row, at)]; }

  number(name, at) {
    const text = this.data.numbers?.[name];
    return text && this.numbersOf(text, Float32Array)[at];
  }

  sentence(row, at) {
    const { sentences } = row;
    const template = (Array.isArray(sentences) ? stepAt(sentences, at) : sentences?.[this.outcomeOf(row, at)]) ?? "";
    return filled(template, (name) => {
      if (name !== "lead") return this.number(name, at);
      const lead = this.leadOf(row, at) ?? "T"; // a row of the reference extractor has only its total
      return [this.interval(row, lead)?.value ?? NaN, ...this.limits(row, lead, at)];
    });
  }

  // Return the sentence and the detail of a headline.
  headline({ sentence, detail, rows, combined }, at) {
    if (this.curve) return this.curve.headline();
    if (combined) {
      const moved = this.rows.filter(({ control }) => control);
      return combined[moved.map((row) => this.outcomeOf(row, this.positionOf(row))).join("|")];
    }
    const row = this.rows[stepAt(rows, at) ?? -1];
    return [row ? this.sentence(row, at) : this.said(sentence, at), this.said(detail, at)];
  }

  said(steps, at) { return filled(stepAt(steps, at) ?? "", (name) => this.number(name, at)); }

  // Return an svg for a picture. Its positions on the axis are percentages, so that texts keep their size at every width.
  canvas(cell, [low, high], { height, width = "100%", name = "", ticks, hasAxis, unit = "", times = 1, grid = [0, height] }) {
    const svg = node("svg", { width, height, ...(name ? { role: "group", "aria-label": name } : { "aria-hidden": "true" }) }, cell);
    const x = (value) => `${1 + 98 * Math.min(Math.max((value - low) / (high - low || 1), 0), 1)}%`;
    const floor = hasAxis ? height - (unit ? 42 : 14) : height;
    for (const [value, text] of ticks ?? this.ticks(low, high, times, unit)) {
      if (grid) this.upright(svg, x(value), ...grid, { width: 1, color: "grid" });
      if (unit) this.upright(svg, x(value), floor, floor + 5, { width: 1, color: "muted" });
      const share = (value - low) / (high - low || 1);
      const anchor = share < 0.03 ? "start" : share > 0.97 ? "end" : "middle";
      const size = unit ? [20, 14] : [11, 12];
      if (hasAxis) this.text(svg, x(value), floor + size[0], text, { "text-anchor": anchor, "font-size": size[1] });
    }
    if (unit) this.line(svg, { x1: "1%", x2: "99%", y: floor, width: 1, color: "muted" });
    if (unit) this.text(svg, "99%", floor + 36, unit, { "text-anchor": "end" });
    return { svg, x, floor };
  }

  // Return [value, text] of round ticks, at most eight; their distance decides the number of digits.
  ticks(low, high, times, unit) {
    const span = high - low || 1;
    const power = 10 ** Math.floor(Math.log10(span / (unit ? 8 : 6)));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => span / k <= (unit ? 8 : 6)) ?? 10 * power;
    const isShare = Boolean(this.data.is_share);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i += 1) {
      const text = isShare ? `${tickText(100 * i * step, 100 * step)}%` : tickText(times * i * step, times * step);
      ticks.push([i * step, text]);
    }
    return ticks;
  }

  upright(svg, x, y1, y2, attributes) { return this.line(svg, { x1: x, x2: x, y1, y2, ...attributes }); }

  line(svg, { y, y1 = y, y2 = y, width, color, hasCaps, ...others }) {
    return node("line", { y1, y2, stroke: this.colors[color], "stroke-width": width, ...others }, svg);
  }

  text(svg, x, y, text, attributes = {}) {
    return node("text", { x, y, "font-size": 13, fill: this.colors.muted, ...attributes }, svg, text);
  }

  // Draw a line that follows a row's handle, and a pale line where it was before the drag. `ends(position)` returns [low, high] or null.
  moving(svg, x, row, ends, attributes) {
    const set = (line, at) => {
      const shown = at === null ? null : ends(at);
      const isShown = Boolean(shown) && shown.every(Number.isFinite);
      line.setAttribute("visibility", isShown ? "visible" : "hidden");
      if (isShown) ["x1", "x2"].forEach((end, i) => line.setAttribute(end, x(shown[i])));
    };
    const ghost = this.line(svg, { ...attributes, opacity: 0.3 * (attributes.opacity ?? 1) });
    const line = this.line(svg, attributes);
    this.painters.push(() => {
      set(line, this.positionOf(row));
      set(ghost, this.handleOf(row).from);
    });
    const cap = { ...attributes, y1: 13, y2: 27, hasCaps: false };
    for (const i of attributes.hasCaps ? [0, 1] : []) this.moving(svg, x, row, (at) => [ends(at)[i], ends(at)[i]], cap);
    return line;
  }

  // Draw the line that people drag in a picture, and its mirror image if it applies to both sides of 0.
  dragged(svg, x, floor, { scale }) {
    const handle = this.handles[0];
    const isMirrored = scale[0] < 0 && handle.range[0] === 0;
    for (const sign of isMirrored ? [1, -1] : [1]) {
      const shape = { y1: 8, y2: floor, width: 4, color: "artifact" };
      const [ghost, line] = [this.line(svg, { ...shape, opacity: 0.3 }), this.line(svg, { ...shape, "stroke-linecap": "round" })];
      const set = (drawn, number) => ["x1", "x2"].forEach((end) => drawn.setAttribute(end, x(sign * number)));
      this.painters.push(() => {
        set(line, handle.at);
        ghost.setAttribute("visibility", handle.from === null ? "hidden" : "visible");
        if (handle.from !== null) set(ghost, handle.drag.from);
      });
    }
    if (this.data.locked) return;
    const under = (event) => {
      const box = svg.getBoundingClientRect();
      const value = scale[0] + (scale[1] - scale[0]) * ((event.clientX - box.left) / box.width - 0.01) / 0.98;
      return handle.numberOf(isMirrored ? Math.abs(value) : value);
    };
    svg.classList.add("dragged");
    svg.onpointerdown = (event) => { svg.setPointerCapture(event.pointerId); this.move(handle, under(event)); };
    svg.onpointermove = (event) => { if (handle.from !== null && event.buttons) this.move(handle, under(event)); };
    svg.onpointerup = () => this.release(handle);
  }

  // Send `what` on a click, Enter or the space bar.
  opening(target, what) {
    const open = () => this.send("opened", what);
    target.onclick = open;
    target.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } };
  }

  build() {
    const { data, root } = this;
    const focused = root.getRootNode().activeElement?.dataset?.control;
    for (const place of [this.says, this.lines, this.legend, this.choices, this.head, this.body]) place.replaceChildren();
    [this.painters, this.drawn] = [[], []];
    const outcomes = this.part(data.outcomes_by_row);
    this.headlines = this.part(data.headlines); // undefined for choices that the server has not computed yet
    this.intervals = this.part(data.intervals_by_row);
    this.rows = (this.part(data.rows) ?? []).map((row, index) => ({ ...row, index, outcomes: outcomes?.[index] ?? row.outcomes }));
    this.buildChoices();
    for (const control of data.controls ?? []) this.slider(this.handleOf({ control }), root.querySelector(".controls"));
    for (const [label, style] of data.legend ?? []) element("span", `swatch ${style}`, label, this.legend);
    if (this.headlines) this.buildSentences();
    if (data.columns) {
      const titles = element("tr", "", "", this.head);
      for (const name of data.columns) element("th", "", name, titles).scope = "col";
    }
    if (!this.headlines) this.body.textContent = "Counting for these settings …";
    else for (const row of this.rows) if (!row.is_hidden) this.buildRow(row);
    const [handle] = data.controls ? this.handles : [];
    if (handle) this.mark(handle, data.changes ?? this.changes(this.rows, handle), data.changes || data.outcomes);
    if (focused && root.getRootNode().activeElement?.dataset?.control !== focused) {
      [...root.querySelectorAll("input")].find((input) => input.dataset.control === focused)?.focus();
    }
    this.paint();
  }

  buildChoices() {
    const { data, root } = this;
    const choices = (data.choices ?? []).filter(({ options }) => options);
    root.querySelector(".view").hidden = !choices.length;
    for (const { name, title, options } of choices) {
      const label = element("label", "", "", this.choices);
      element("span", "", title, label);
      const select = element("select", "", "", label);
      for (const [value, text] of options) element("option", "", text, select).value = value;
      if (!options.some(([value]) => value === root._view[name])) root._view[name] = options[0]?.[0];
      Object.assign(select, { name, value: root._view[name], disabled: Boolean(data.locked) });
      label.hidden = options.length < 2;
      select.onchange = () => {
        const from = root._view[name];
        root._view[name] = select.value;
        this.build();
        this.sendMove({ control: name, from, to: select.value });
        this.share.released();
      };
    }
  }

  buildSentences() {
    for (const headline of this.headlines) {
      const [said, under] = [element("div", "headline", "", this.says), element("div", "under", "", this.says)];
      said.setAttribute("role", "heading");
      said.setAttribute("aria-level", "2");
      this.drawn.push(said);
      this.painters.push(() => {
        const [sentence, detail] = this.headline(headline, this.positionOf());
        write(said, unbroken(sentence));
        if (headline.combined) write(said, detail, "title"); // the result of the source's rule, on hover
        else write(under, detail);
      });
    }
    for (const steps of this.data.lines ?? []) {
      const line = element("div", "line", "", this.lines);
      this.drawn.push(line);
      this.painters.push(() => write(line, this.said(steps, this.positionOf())));
    }
  }

  buildRow(row) {
    const { data } = this;
    const box = element("tr", `row ${row.style ?? ""}`, "", this.body);
    box.classList.toggle("axis", !row.title);
    box.classList.toggle("opened", Boolean(row.id) && row.id === data.opened);
    const sign = data.outcomes && element("td", "sign", "", box);
    const text = element("td", "text", "", box);
    element("b", "", row.title ?? "", text);
    if (row.note) element("span", "note", row.note, text);
    const sentence = row.sentences && element("div", "sentence", "", text);
    if (data.hint && row.id) {
      Object.assign(text, { tabIndex: 0, title: `${row.hint ?? ""} ${data.hint}`.trim() });
      text.setAttribute("role", "button");
      this.opening(text, row.id);
    } else if (row.hint) box.title = row.hint;
    for (const picture of row.pictures ?? []) {
      const cell = element("td", `picture ${picture.kind}`, "", box);
      if (picture.hint) cell.title = picture.hint;
      PICTURES[picture.kind](this, cell, picture, row);
      if (row.control) {
        const handle = this.handleOf(row);
        this.slider(handle, cell);
        this.mark(handle, this.changes([row], handle));
      }
    }
    if (row.figure) element("td", "estimate", row.figure, box);
    this.painters.push(() => {
      const at = this.positionOf(row);
      const outcome = data.outcomes?.[this.outcomeOf(row, at)];
      if (sign) {
        write(sign, outcome?.sign ?? "");
        sign.dataset.verdict = outcome?.tone ?? "";
      }
      if (sentence) write(sentence, unbroken(this.shortened(row, this.sentence(row, at))));
    });
  }

  // Return a sentence without the row's title at its beginning, because the title stands before it.
  shortened({ title }, text) {
    for (const start of [`${title}: `, `${title} is `]) {
      if (!text.toLowerCase().startsWith(start.toLowerCase())) continue;
      const rest = text.slice(start.length);
      return rest[0].toUpperCase() + rest.slice(1);
    }
    return text;
  }

  // Make or update the slider of a handle. A slider above the rows survives a redrawing, so that a drag can go on.
  slider(handle, parent) {
    const { name, aria, title, ends, isLine } = handle;
    let label = [...parent.querySelectorAll(":scope > .drag")].find((drag) => drag.dataset.control === name);
    if (!label) {
      label = element("label", "drag", "", parent);
      label.dataset.control = name;
      if (parent.matches(".controls")) parent.prepend(label);
      const head = element("span", "", "", label);
      element("span", "name", "", head);
      element("b", "level", "", head);
      const track = element("span", "track", "", label);
      Object.assign(element("input", "", "", track), { type: "range" }).dataset.control = name;
    }
    const [input, shown] = [label.querySelector("input"), label.querySelector(".level")];
    Object.assign(input, { min: ends[0], max: ends[1], step: handle.isLine ? (ends[1] - ends[0]) / 1000 || 1 : 1 });
    input.disabled = Boolean(this.data.locked);
    input.hidden = ends[0] === ends[1]; // a range of one number has nothing to move
    input.setAttribute("aria-label", aria || (isLine ? "Cut-off" : title));
    write(label.querySelector(".name"), title);
    input.oninput = () => this.move(handle, Number(input.value));
    input.onchange = () => this.release(handle);
    handle.input = input;
    this.painters.push(() => {
      input.value = String(handle.at);
      write(shown, handle.text);
      input.setAttribute("aria-valuetext", handle.text);
    });
  }

  // Return [position, text] for each position at which the outcome of a row changes, or that of the headline.
  changes(rows, handle) {
    const changes = [];
    const leads = this.headlines?.[0]?.rows;
    for (const row of this.data.outcomes ? rows : []) {
      for (const [at, name] of (row.outcomes ?? []).slice(1)) {
        const { becomes } = this.data.outcomes[name] ?? {};
        if (!becomes || (row.is_hidden && row.index !== stepAt(leads, at))) continue;
        changes.push([at, `at ${handle.labels[at]} ${row.is_hidden ? "the headline" : row.title} becomes ${becomes}`]);
      }
    }
    return changes;
  }

  // Draw a mark under the slider at each change; its title says what changes.
  mark(handle, changes, saysNone) {
    const parent = handle.input.parentElement;
    parent.querySelector(".changes")?.remove();
    if (!changes.length && !saysNone) return;
    const box = element("span", "changes", "", parent);
    const texts = new Map();
    for (const [at, text] of changes) texts.set(at, [...(texts.get(at) ?? []), text]);
    box.classList.toggle("none", !texts.size);
    if (!texts.size) box.textContent = "No verdict changes at any level.";
    const [low, high] = handle.ends;
    for (const [at, lines] of [...texts].sort(([a], [b]) => a - b)) {
      const tick = element("i", "", "", box);
      const share = handle.isLine ? (handle.changesAt[at] - low) / (high - low) : (at - 0.5) / high;
      tick.style.left = `calc(8px + (100% - 16px) * ${share})`; // the thumb is 16 px wide, so the track's ends stand 8 px inside
      tick.dataset.at = at;
      tick.title = lines.join("\n");
    }
  }

  paint() {
    for (const act of this.painters) act();
    const selects = [...this.choices.querySelectorAll("label:not([hidden]) select")];
    write(this.set, selects.map((select) => select.selectedOptions[0]?.textContent ?? "").join(" · "));
    this.root.dataset.painted = String(performance.now());
  }

  move(handle, number) {
    handle.step(number);
    this.root._view[handle.name] = handle.value;
    this.paint();
    this.share.moving();
  }

  release(handle) {
    const move = handle.release();
    if (move === null) return;
    this.paint();
    this.sendMove(move);
    this.share.released();
  }

  // Change a setting that a picture has switches for.
  choose(name, value) {
    const from = this.root._view[name];
    this.root._view[name] = value;
    this.paint();
    this.sendMove({ control: name, from, to: value });
    this.share.released();
  }

  sendMove(move, taken = {}) {
    const view = { ...this.root._view, ...taken };
    this.root._sent = [...this.root._sent, JSON.stringify(view)];
    this.send("moved", { ...move, ...view });
  }

  // Apply a presenter's settings, as far as this board has them.
  show(sent, isMoving) {
    if (this.data.locked) return;
    let isOther = false;
    for (const { name, options } of this.data.choices ?? []) {
      if (sent[name] === this.root._view[name] || typeof sent[name] !== "string") continue;
      if (options && !options.some(([value]) => value === sent[name])) continue;
      this.root._view[name] = sent[name];
      isOther ||= Boolean(options); // settings without options belong to a picture, which needs no rebuilding
    }
    for (const handle of this.handles) {
      if (!(handle.name in sent) || (handle.isLine && !Number.isFinite(sent[handle.name]))) continue;
      const number = handle.numberOf(sent[handle.name]);
      if (number < 0) continue;
      if (number !== handle.at) handle.step(number);
      if (!isMoving) handle.release();
      this.root._view[handle.name] = handle.value;
    }
    if (isOther) this.build(); else this.paint();
    if (isOther && !this.headlines) this.settle(sent);
  }

  // Return a presenter's values, which this board's handles may lack: a stored margin is a stop on the presenter's board only.
  // In a message "none" stands for no margin.
  taken(sent) {
    const known = Object.entries(sent).filter(([name]) => name in this.starts);
    return Object.fromEntries(known.map(([name, value]) => [name, value === "none" ? null : value]));
  }

  sentAs() { return Object.fromEntries(Object.entries(this.root._view).map(([name, value]) => [name, value ?? "none"])); }

  isSettled(sent) {
    return Boolean(this.data.locked) || Object.entries(this.taken(sent)).every(([name, value]) => value === this.starts[name]);
  }

  settle(sent) { this.sendMove({ control: "followed" }, this.taken(sent)); }

  // Connect the board to a meeting. A presenter's board sends the positions of its handles, at most once per frame, and the followers'
  // boards show them. Once a handle is released, a follower's board also sends the position to its server, which updates the tables.
  meet() {
    const { root, data: { board } } = this;
    root._share?.stop();
    const tell = (kind, others) => {
      window.dispatchEvent(new CustomEvent(`flipscope-board-${kind}`, { detail: { board, at: this.sentAs(), ...others } }));
    };
    const say = (moving) => tell("moved", { moving });
    const follow = ({ at, moving }) => {
      this.show(at, moving);
      const text = JSON.stringify(at);
      if (moving || this.isSettled(at) || root._settled === text) return;
      root._settled = text;
      this.settle(at);
    };
    const [saying, following] = [framed(() => say(true)), framed(follow)];
    const hear = (event) => { if (event.detail.board === board) following(event.detail); };
    const drawn = () => tell("drawn");
    window.addEventListener("flipscope-board-follow", hear);
    window.addEventListener("flipscope-board-say", drawn);
    this.share = root._share = {
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
  }

  // Offer the button and the key that store a decision. It may rest on the sentences above or on those of the rows, clearest first.
  offerRecord() {
    const { data, root } = this;
    const rankOf = (row) => data.outcomes?.[this.outcomeOf(row, this.positionOf(row))]?.rank;
    const decide = () => {
      if (data.is_waiting || !this.headlines) return;
      const rows = this.rows.filter((row) => !row.is_hidden && rankOf(row) !== undefined && row.sentences);
      rows.sort((a, b) => rankOf(a) - rankOf(b) || (b.weight ?? 0) - (a.weight ?? 0));
      const said = rows.map((row) => this.sentence(row, this.positionOf(row)));
      const sentences = [...this.drawn.map(({ textContent }) => textContent), ...said];
      const quoted = filled(data.controls?.[0]?.quoted ?? "", () => this.handles[0].text);
      // A sentence that says its level itself needs no note on it.
      const noted = (sentence) => sentence.endsWith(` at ${this.handles[0]?.text}.`) ? sentence : sentence + quoted;
      this.send("decision", { sentences: sentences.filter(Boolean).map(noted), ...root._view });
    };
    const button = root.querySelector(".controls > button");
    Object.assign(button, { onclick: decide, hidden: Boolean(data.is_waiting) });
    root.onkeydown = (event) => { if (event.key === "w" && event.target.tagName !== "SELECT") decide(); };
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const board = new Board(parentElement.querySelector(".board"), data, setTriggerValue);
  board.meet();
  board.build();
  board.offerRecord();
  board.share.drawn();
  return () => board.share.stop();
}
