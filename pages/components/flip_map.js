// Flip maps side by side. A row is an item, a bin of items or a group; a column is an axis or a variant. This script only draws what
// flipcore computed. Item text reaches the page through textContent and fillText, never as HTML.
const ROW = 24;
const HEAD = 82;
const TIGHT = 26; // a narrower column has one upright line for its name, and a taller head
const TALL = 112;
const NARROW = 36; // a narrower column has its name upright, and its number only in the tip
const MEAN = 40;
const MARK = 9; // space for the mark of selected rows
const UNDEFINED = -32768;
const DRAG = 6; // a press that moves by this many pixels is a brush

function numbers(text, Type, n) {
  if (!text) return new Type(n);
  return new Type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}

export default function (component) {
  const { data, parentElement } = component;
  const whole = parentElement.querySelector(".whole");
  const root = whole.querySelector(".flipmap");
  const canvas = root.querySelector("canvas.map");
  const overview = root.querySelector("canvas.overview");
  const scroller = root.querySelector(".scroller");
  const filler = root.querySelector(".filler");
  const tip = root.querySelector(".tip");
  const live = whole.querySelector(".live");
  const { colours, map } = data;
  const { ids, labels, columns, groups, sizes, signed } = map;
  const n = ids.length;
  const starts = map.starts.map((text) => numbers(text, Int32Array));
  const panels = map.panels.map((panel) => ({ ...panel, levels: panel.levels.map((level, at) => {
    const cells = starts[at].length * columns.length;
    return { values: numbers(level.values, Int16Array), means: numbers(level.means, Int16Array),
      unreadable: numbers(level.unreadable, Int16Array, cells), cut: numbers(level.cut, Int16Array, cells),
      low: level.low && numbers(level.low, Int16Array), high: level.high && numbers(level.high, Int16Array) };
  }) }));
  const state = root._state ?? (root._state = { zoom: 0, row: 0, panel: 0, column: 0, focused: false, shown: "", version: "",
    open: new Set(), selection: [], anchor: null });
  if (state.version !== data.version) {
    Object.assign(state, { version: data.version, zoom: Math.min(state.zoom, sizes.length - 1), row: 0, focused: false, shown: "",
      open: new Set(), selection: [], anchor: null });
  }
  const style = getComputedStyle(root);
  const font = style.getPropertyValue("--st-font") || "sans-serif";
  const accent = style.getPropertyValue("--st-primary-color").trim() || colours.artifact;
  const stops = signed ? [colours.genuine, colours.flip[0], colours.artifact] : colours.flip;
  const scale = signed ? (value) => (value + 1) / 2 : (value) => value;
  let head = HEAD;
  let display = new Int32Array(0); // content of each row: the index of a bin, or -1 - g for the header of group g
  let press = null;

  whole.querySelector(".scale").style.background = `linear-gradient(to right, ${stops.join(",")})`;
  whole.querySelector(".hatch").style.background =
    `repeating-linear-gradient(135deg, ${colours.undefined} 0 1px, transparent 1px 5px)`;
  const ends = signed ? ["flips under the reference alone", "under the compared alone"] : ["no pair flips", "every pair flips"];
  whole.querySelectorAll(".end").forEach((label, i) => { label.textContent = ends[i]; });

  // ---- rows
  // Return the index of the first bin that starts at a position or after it.
  function firstBin(binStarts, position) {
    let [low, high] = [0, binStarts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (binStarts[middle] < position) low = middle + 1; else high = middle;
    }
    return low;
  }

  function setHeight() {
    filler.style.height = `${head + display.length * ROW + 4}px`;
    root.style.height = `${Math.min(data.height, head + Math.max(display.length, 6) * ROW + 8)}px`;
  }

  function build() {
    const binStarts = starts[state.zoom];
    const rows = [];
    groups.forEach((group, g) => {
      if (map.grouped) rows.push(-1 - g);
      if (map.grouped && !state.open.has(g)) return;
      for (let b = firstBin(binStarts, group.start); b < binStarts.length && binStarts[b] < group.end; b += 1) rows.push(b);
    });
    display = Int32Array.from(rows);
    geometry();
    setHeight();
    scroller.setAttribute("aria-rowcount", String(display.length));
    scroller.setAttribute("aria-colcount", String(columns.length));
    state.row = Math.min(state.row, Math.max(display.length - 1, 0));
    whole.querySelector(".size").textContent = sizes[state.zoom] === 1 ? `${numberText(n, 0)} items`
      : `${numberText(sizes[state.zoom], 0)} items a row`;
    whole.querySelector(".out").disabled = state.zoom >= sizes.length - 1;
    whole.querySelector(".in").disabled = state.zoom === 0;
  }

  // Return the items of a row as [from, to) of their order.
  function itemsOf(r) {
    const at = display[r];
    if (at < 0) return [groups[-1 - at].start, groups[-1 - at].end];
    const binStarts = starts[state.zoom];
    return [binStarts[at], at + 1 < binStarts.length ? binStarts[at + 1] : n];
  }

  const isHeader = (r) => display[r] < 0;
  const isItem = (r) => display[r] >= 0 && sizes[state.zoom] === 1;
  const groupOf = (position) => groups.findIndex((group) => position >= group.start && position < group.end);

  // Return the row that shows the item at a position of the order.
  function rowOf(position) {
    for (let r = 0; r < display.length; r += 1) {
      const [from, to] = itemsOf(r);
      if (position >= from && position < to && (!isHeader(r) || !state.open.has(-1 - display[r]))) return r;
    }
    return 0;
  }

  function zoomTo(level, anchor = state.row) {
    const wanted = Math.min(Math.max(level, 0), sizes.length - 1);
    if (wanted === state.zoom || !display.length) return;
    const at = Math.min(Math.max(anchor, 0), display.length - 1);
    const place = at * ROW - scroller.scrollTop;
    const [from] = itemsOf(at);
    state.zoom = wanted;
    build();
    state.row = rowOf(from);
    scroller.scrollTop = Math.max(0, state.row * ROW - place);
    draw();
  }

  function rateOf(panel, r, c) {
    const at = display[r];
    if (at < 0) return panel.groups[-1 - at].cells[c][0] ?? NaN;
    const cell = panel.levels[state.zoom].values[at * columns.length + c];
    return cell === UNDEFINED ? NaN : cell / 1000;
  }

  function shareOf(panel, which, r, c) {
    const at = display[r];
    return at < 0 ? panel.groups[-1 - at][which][c] : panel.levels[state.zoom][which][at * columns.length + c] / 1000;
  }

  function titleOf(r) {
    const [from, to] = itemsOf(r);
    if (isHeader(r)) return `${state.open.has(-1 - display[r]) ? "▾" : "▸"} ${groups[-1 - display[r]].label || "no name"}`;
    if (isItem(r)) return labels[from];
    return `${numberText(from + 1, 0)}–${numberText(to, 0)}: ${labels[from]}`;
  }

  // ---- drawing
  function geometry() {
    const wide = overviewNeeded() ? 20 : 0;
    const width = scroller.clientWidth - wide;
    const label = Math.min(300, width * 0.24);
    const gap = 14;
    const panel = (width - label - gap * (panels.length - 1) - 4) / panels.length;
    head = (panel - MEAN) / columns.length < TIGHT ? TALL : HEAD;
    return { width, label, gap, panel, cell: (panel - MEAN) / columns.length };
  }

  function overviewNeeded() {
    return !map.grouped && display.length * ROW > 3 * (root.clientHeight - head);
  }

  function contextOf(target, width, height) {
    const ratio = window.devicePixelRatio || 1;
    if (target.width !== Math.round(width * ratio) || target.height !== Math.round(height * ratio)) {
      target.width = Math.round(width * ratio);
      target.height = Math.round(height * ratio);
      target.style.width = `${width}px`;
      target.style.height = `${height}px`;
    }
    const ctx = target.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    return ctx;
  }

  function draw() {
    const before = head;
    const g = geometry();
    if (head !== before) setHeight();
    const height = root.clientHeight;
    paint(contextOf(canvas, g.width, height), g, height);
    drawOverview();
    root.dataset.painted = String(performance.now());
  }

  function paint(ctx, g, height) {
    const first = Math.floor(scroller.scrollTop / ROW);
    const shift = scroller.scrollTop - first * ROW;
    const last = Math.min(display.length, first + Math.ceil((height - head) / ROW) + 1);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, head, g.width, height - head);
    ctx.clip();
    for (let r = first; r < last; r += 1) drawRow(ctx, g, r, head + (r - first) * ROW - shift);
    ctx.restore();
    drawHead(ctx, g);
  }

  function drawRow(ctx, g, r, y) {
    const isFocused = state.focused && r === state.row;
    const [from, to] = itemsOf(r);
    const nSelected = selectedIn(from, to);
    if (nSelected) {
      ctx.fillStyle = accent;
      ctx.fillRect(0, y + 2, nSelected === to - from ? 5 : 2, ROW - 4);
    }
    ctx.font = `${isFocused || isHeader(r) ? "600 " : ""}13px ${font}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.fillStyle = colours.text;
    const room = g.label - 10 - MARK;
    if (isHeader(r)) {
      const count = numberText(to - from, 0);
      const wide = ctx.measureText(count).width;
      ctx.fillText(fitted(ctx, titleOf(r), room - wide - 8), MARK, y + ROW / 2);
      ctx.fillStyle = colours.muted;
      ctx.fillText(count, MARK + room - wide, y + ROW / 2);
    } else ctx.fillText(fitted(ctx, titleOf(r), room), MARK + (map.grouped ? 10 : 0), y + ROW / 2);
    panels.forEach((panel, p) => {
      const left = g.label + p * (g.panel + g.gap);
      columns.forEach((column, c) => drawCell(ctx, panel, p, r, c, left + c * g.cell, y, g.cell));
      drawMean(ctx, panel, r, left + g.cell * columns.length + 4, y + ROW / 2);
    });
  }

  // Draw the mean of a row: a bar for an item, with an interval for a group, with the middle half of its items for a bin.
  function drawMean(ctx, panel, r, x, y) {
    const at = display[r];
    const level = panel.levels[state.zoom];
    const estimate = at < 0 ? panel.groups[-1 - at].cells.at(-1)
      : [level.means, level.low, level.high].map((values) => (values && values[at] !== UNDEFINED ? values[at] / 1000 : null));
    const [mean, low] = estimate;
    if (mean === null) return;
    const width = MEAN - 8;
    const [zero, end] = [scale(0), scale(mean)].map((share) => x + width * share);
    ctx.fillStyle = colours.muted;
    ctx.globalAlpha = low === null ? 1 : 0.45;
    ctx.fillRect(Math.min(zero, end), y - 3, Math.abs(end - zero), 6);
    ctx.globalAlpha = 1;
    if (low !== null) whisker(ctx, x, y, width, estimate, scale, colours.text);
  }

  function drawCell(ctx, panel, p, r, c, x, y, cell) {
    const rate = rateOf(panel, r, c);
    const inset = columns[c].variant ? 4 : 1; // cells of variants are lower than those of their axis
    const dark = !signed && rate > 0.5 ? colours.on_dark : colours.dots;
    if (Number.isNaN(rate)) hatched(ctx, x + 1, y + inset, cell - 2, ROW - 2 * inset, colours.undefined);
    else {
      ctx.fillStyle = mixed(stops, scale(rate));
      ctx.fillRect(x + 1, y + inset, cell - 2, ROW - 2 * inset);
    }
    const [unreadable, cut] = [shareOf(panel, "unreadable", r, c), shareOf(panel, "cut", r, c)];
    if (unreadable > 0) dotted(ctx, x + 1, y + inset, cell - 2, ROW - 2 * inset, unreadable, dark);
    if (cut > 0) folded(ctx, x + 1, y + inset, cell - 2, ROW - 2 * inset, cut, dark);
    if (state.focused && r === state.row && c === state.column) {
      ctx.strokeStyle = signed ? colours.text : colours.artifact;
      ctx.lineWidth = p === state.panel ? 3 : 1.5;
      ctx.strokeRect(x + 2, y + 2, cell - 4, ROW - 4);
    }
  }

  function drawHead(ctx, g) {
    ctx.textBaseline = "alphabetic";
    panels.forEach((panel, p) => {
      const left = g.label + p * (g.panel + g.gap);
      ctx.fillStyle = colours.text;
      ctx.font = `600 15px ${font}`;
      ctx.textAlign = "left";
      ctx.fillText(fitted(ctx, panel.title, g.panel), left, 14);
      ctx.textAlign = "center";
      columns.forEach((column, c) => drawColumnHead(ctx, panel, column, c, left + c * g.cell, g.cell));
      ctx.font = `11px ${font}`;
      ctx.fillStyle = colours.muted;
      ctx.textAlign = "left";
      const x = left + g.cell * columns.length + 4;
      ctx.fillText("mean", x, head - 20);
      whisker(ctx, x, head - 11, MEAN - 8, panel.strip.at(-1), scale, colours.muted);
    });
  }

  function drawColumnHead(ctx, panel, column, c, x, cell) {
    const middle = x + cell / 2;
    const estimate = panel.strip[c];
    const [, , , rateLabel, intervalLabel] = estimate;
    const weight = column.opened && !column.variant ? "600 " : "";
    ctx.fillStyle = column.variant ? colours.muted : colours.text;
    if (cell < NARROW) {
      ctx.font = `${weight}11px ${font}`;
      const upright = cell < TIGHT ? [fitted(ctx, column.label, head - 36)] : lines(ctx, column.label, head - 36);
      upright.forEach((line, i) => upwards(ctx, line, middle + 4 + 12 * (i - (upright.length - 1) / 2), head - 17));
      whisker(ctx, x + 3, head - 10, cell - 6, estimate, scale, colours.muted);
      return;
    }
    const text = column.opens && !column.variant && cell > 60 ? `${column.label}\u00a0${column.opened ? "▾" : "▸"}` : column.label;
    let name = [];
    for (const size of [13, 12, 11, 10]) { // whole words in small letters are clearer than shortened words
      ctx.font = `${weight}${size}px ${font}`;
      name = lines(ctx, text, cell - 3);
      if (!name.some((line) => line.includes("…"))) break;
    }
    name.forEach((line, i) => ctx.fillText(line, middle, 32 + 14 * (i + 2 - name.length)));
    ctx.font = `600 13px ${font}`;
    ctx.fillStyle = colours.text;
    if (ctx.measureText(rateLabel).width <= cell - 1) ctx.fillText(rateLabel, middle, 62);
    whisker(ctx, x + 3, 68, cell - 6, estimate, scale, colours.muted);
    ctx.font = `11px ${font}`;
    ctx.fillStyle = colours.muted;
    // If the interval does not fit, write only the number of items, because it differs between columns.
    const below = [intervalLabel, intervalLabel.slice(intervalLabel.lastIndexOf("n "))].find((text) => ctx.measureText(text).width <= cell - 2);
    if (below) ctx.fillText(below, middle, 80);
  }

  // Draw all rows in one strip, with their flips and the part that is visible now.
  function drawOverview() {
    const needed = overviewNeeded();
    overview.hidden = !needed;
    if (!needed) return;
    const room = root.clientHeight - head;
    overview.style.right = `${root.clientWidth - scroller.clientWidth}px`;
    overview.style.top = `${head}px`;
    const ctx = contextOf(overview, 14, room);
    let level = 0;
    while (level < sizes.length - 1 && starts[level].length > 2 * room) level += 1;
    const means = panels[0].levels[level].means;
    for (let y = 0; y < room; y += 2) {
      const mean = means[Math.min(Math.floor((y / room) * means.length), means.length - 1)];
      ctx.fillStyle = mean === UNDEFINED ? colours.undefined : mixed(stops, scale(mean / 1000));
      ctx.fillRect(0, y, 14, 2);
    }
    ctx.strokeStyle = colours.artifact;
    ctx.lineWidth = 2;
    const all = display.length * ROW;
    ctx.strokeRect(1, (scroller.scrollTop / all) * room + 1, 12, Math.max((room / all) * room, 5));
  }

  // ---- pointing
  function cellAt(event) {
    const box = scroller.getBoundingClientRect();
    const g = geometry();
    const x = event.clientX - box.left - g.label;
    const y = event.clientY - box.top;
    const r = y < head ? -1 : Math.floor((y - head + scroller.scrollTop) / ROW);
    if (r >= display.length || x >= g.width - g.label) return null;
    if (x < 0) return r < 0 ? null : { row: r, column: -1, panel: 0 };
    const p = Math.floor(x / (g.panel + g.gap));
    const c = Math.floor((x - p * (g.panel + g.gap)) / g.cell);
    if (p >= panels.length || c >= columns.length) return null;
    return { row: r, column: c, panel: p };
  }

  function send(detail) {
    window.dispatchEvent(new CustomEvent("flipscope-map", { detail: { ...detail, version: data.version } }));
  }

  // Act on a clicked cell: open or close a group, zoom into a bin, or show the outputs of an item.
  function choose(cell) {
    Object.assign(state, { row: cell.row ?? state.row, panel: cell.panel ?? state.panel, focused: true });
    if ((cell.column ?? state.column) >= 0) state.column = cell.column ?? state.column;
    if (isHeader(state.row)) {
      const g = -1 - display[state.row];
      if (state.open.has(g)) state.open.delete(g); else state.open.add(g);
      build();
    } else if (!isItem(state.row)) {
      zoomTo(state.zoom - 1, state.row);
      return;
    } else {
      const [position] = itemsOf(state.row);
      state.shown = `${ids[position]}|${columns[state.column].id}`;
      send({ kind: "cell", position, column: columns[state.column].id, panel: state.panel });
    }
    draw();
    announce();
  }

  // Return the text of the tip for a cell.
  function describe(cell) {
    const panel = panels[cell.panel];
    if (cell.row < 0) {
      const [, , , text, interval] = panel.strip[cell.column];
      const more = columns[cell.column].variant || !columns[cell.column].opens ? "" : "\nclick: open or close its variants";
      return `${columns[cell.column].label}, ${panel.title}\n${signed ? "difference" : "flip rate"} ${text}${signed ? " points" : ""} ${interval}${more}`;
    }
    const [from, to] = itemsOf(cell.row);
    const what = isItem(cell.row) ? labels[from] : `${titleOf(cell.row).replace(/^[▸▾] /, "")} (${numberText(to - from, 0)} items)`;
    if (cell.column < 0) return what;
    const rate = rateOf(panel, cell.row, cell.column);
    const parts = [Number.isNaN(rate) ? "undefined: nothing to compare" : rateText(rate)];
    if (isHeader(cell.row)) parts.push(panel.groups[-1 - display[cell.row]].cells[cell.column][4]);
    const [unreadable, cut] = [shareOf(panel, "unreadable", cell.row, cell.column), shareOf(panel, "cut", cell.row, cell.column)];
    if (unreadable > 0) parts.push(`${percentText(unreadable)} unreadable`);
    if (cut > 0) parts.push(`${percentText(cut)} cut off`);
    return `${what}\n${columns[cell.column].label}, ${panel.title}: ${parts.join(", ")}`;
  }

  function rateText(rate) {
    if (!signed) return `${percentText(rate)} of pairs flip`;
    return `${numberText(100 * rate, 0, true)} points`;
  }

  // Tell screen readers which cell has the focus.
  function announce() {
    live.textContent = display.length ? describe({ row: state.row, column: state.column, panel: state.panel }) : "";
  }

  function hover(event) {
    const cell = press?.brushing ? null : cellAt(event);
    tip.hidden = cell === null;
    if (cell === null) return;
    tip.textContent = describe(cell);
    const box = root.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 14, box.width - 280))}px`;
    tip.style.top = `${Math.min(event.clientY - box.top + 14, box.height - tip.offsetHeight - 4)}px`;
  }

  // ---- selecting
  // Return how many of the items [from, to) are selected.
  function selectedIn(from, to) {
    return state.selection.reduce((sum, [a, b]) => sum + Math.max(0, Math.min(b, to) - Math.max(a, from)), 0);
  }

  function select(ranges) {
    const merged = [];
    for (const [a, b] of ranges.filter(([x, y]) => y > x).sort(([first], [second]) => first - second)) {
      if (merged.length && a <= merged.at(-1)[1]) merged.at(-1)[1] = Math.max(merged.at(-1)[1], b);
      else merged.push([a, b]);
    }
    state.selection = merged;
    draw();
  }

  const sendSelection = () => send({ kind: "brush", ranges: state.selection });
  const rowsSpan = (a, b) => [itemsOf(Math.min(a, b))[0], itemsOf(Math.max(a, b))[1]];
  const without = (from, to) => state.selection.flatMap(([a, b]) => [[a, Math.min(b, from)], [Math.max(a, to), b]]);

  function rowAt(event) {
    const y = event.clientY - scroller.getBoundingClientRect().top - head + scroller.scrollTop;
    return Math.min(Math.max(Math.floor(y / ROW), 0), display.length - 1);
  }

  scroller.onmousedown = (event) => {
    if (event.button !== 0 || event.clientY - scroller.getBoundingClientRect().top < head || !display.length) return;
    if (event.offsetX > scroller.clientWidth) return; // the scroll bar
    const more = event.ctrlKey || event.metaKey;
    press = { row: rowAt(event), y: event.clientY, more, brushing: false, old: more ? state.selection : [] };
  };
  const moved = (event) => {
    if (!press || (!press.brushing && Math.abs(event.clientY - press.y) < DRAG)) return;
    press.brushing = true;
    event.preventDefault();
    const box = scroller.getBoundingClientRect();
    if (event.clientY > box.bottom - 10) scroller.scrollTop += ROW;
    if (event.clientY < box.top + head) scroller.scrollTop -= ROW;
    select([...press.old, rowsSpan(press.row, rowAt(event))]);
  };
  const released = () => {
    if (press?.brushing) sendSelection();
    setTimeout(() => { press = null; });
  };

  // ---- saving the visible part with its caption
  function fullCaption() {
    const first = Math.floor(scroller.scrollTop / ROW);
    const last = Math.min(display.length, first + Math.floor((root.clientHeight - head) / ROW));
    if (!display.length) return data.caption;
    const rows = `Rows ${numberText(first + 1, 0)} to ${numberText(last, 0)} of ${numberText(display.length, 0)} in sight; `
      + (map.grouped ? "a header is a group, " : "")
      + (sizes[state.zoom] === 1 ? "a row is an item." : `a row is the mean of up to ${sizes[state.zoom]} items.`);
    return `${data.caption} ${rows}`;
  }

  function picture(pen, g, height, text) {
    pen.fillStyle = colours.page;
    pen.fillRect(0, 0, g.width, height + 26 + 16 * text.length + 10);
    paint(pen, g, height);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.font = `12px ${font}`;
    const wide = pen.measureText(ends[0]).width;
    for (let i = 0; i < 60; i += 1) {
      pen.fillStyle = mixed(stops, i / 59);
      pen.fillRect(wide + 8 + 2 * i, height + 8, 2.5, 11);
    }
    pen.fillStyle = colours.text;
    pen.fillText(ends[0], 0, height + 18);
    pen.fillText(`${ends[1]}; hatched: undefined; dots: unreadable; folded corner: cut off`, wide + 136, height + 18);
    text.forEach((line, i) => pen.fillText(line, 0, height + 38 + 16 * i));
  }

  function save(kind) {
    const g = geometry();
    const height = root.clientHeight;
    const ruler = document.createElement("canvas").getContext("2d");
    ruler.font = `12px ${font}`;
    const text = wrapped(ruler, fullCaption(), g.width - 4);
    const tall = height + 26 + 16 * text.length + 10;
    if (kind === "svg") {
      const pen = new SvgPen(g.width, tall, ruler);
      picture(pen, g, height, text);
      download(new Blob([pen.text(fullCaption())], { type: "image/svg+xml" }), `${data.name}.svg`);
      return;
    }
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [2 * g.width, 2 * tall];
    const ctx = sheet.getContext("2d");
    ctx.scale(2, 2);
    picture(ctx, g, height, text);
    sheet.toBlob((blob) => download(blob, `${data.name}.png`), "image/png");
  }

  // ---- keys
  function scrollToRow() {
    const top = state.row * ROW;
    const room = root.clientHeight - head - ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
  }

  function move(down, right, extend) {
    const before = state.row;
    state.row = Math.min(Math.max(state.row + down, 0), display.length - 1);
    state.column += right;
    if (state.column >= columns.length && state.panel < panels.length - 1) Object.assign(state, { panel: state.panel + 1, column: 0 });
    if (state.column < 0 && state.panel > 0) Object.assign(state, { panel: state.panel - 1, column: columns.length - 1 });
    state.column = Math.min(Math.max(state.column, 0), columns.length - 1);
    state.focused = true;
    if (extend && display.length) {
      state.anchor ??= { row: before, old: state.selection };
      select([...state.anchor.old, rowsSpan(state.anchor.row, state.row)]);
      sendSelection();
    } else state.anchor = null;
    scrollToRow();
    draw();
    announce();
  }

  function toggleSelected() {
    const [from, to] = itemsOf(state.row);
    select(selectedIn(from, to) === to - from ? without(from, to) : [...state.selection, [from, to]]);
    sendSelection();
  }

  function openColumn(c) {
    if (columns[c].opens) send({ kind: "column", axis: columns[c].axis });
  }

  const page = () => Math.max(1, Math.floor((root.clientHeight - head) / ROW) - 1);
  const actions = {
    ArrowDown: (event) => move(1, 0, event.shiftKey), ArrowUp: (event) => move(-1, 0, event.shiftKey),
    ArrowRight: () => move(0, 1), ArrowLeft: () => move(0, -1),
    PageDown: (event) => move(page(), 0, event.shiftKey), PageUp: (event) => move(-page(), 0, event.shiftKey),
    Home: () => move(-display.length, 0), End: () => move(display.length, 0),
    Enter: () => choose({}), " ": toggleSelected, Escape: () => { select([]); sendSelection(); },
    "+": () => zoomTo(state.zoom - 1), "=": () => zoomTo(state.zoom - 1), "-": () => zoomTo(state.zoom + 1),
    0: () => zoomTo(sizes.length - 1), o: () => openColumn(state.column), s: () => save("svg"), p: () => save("png"),
  };

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions) || !display.length) return;
    if (event.key === "Escape" && !state.selection.length) return;
    event.preventDefault();
    actions[event.key](event);
  }

  // Scroll to a cell that was opened by a link or the keys J and K, once, so that people can scroll away from it.
  function follow() {
    const selected = window.flipscopeMapSelected;
    if (!selected) { if (state.shown) { state.shown = ""; state.focused = false; draw(); } return; }
    const wanted = `${selected.item}|${selected.column}`;
    if (state.shown === wanted && state.focused) return;
    let position = ids.indexOf(selected.item);
    if (selected.model && map.grouped) {
      const g = groups.findIndex((group) => group.model === selected.model);
      const inside = g < 0 ? -1 : ids.slice(groups[g].start, groups[g].end).indexOf(selected.item);
      position = inside < 0 ? position : groups[g].start + inside;
    }
    state.shown = wanted;
    state.focused = position >= 0;
    if (state.focused) {
      if (map.grouped) state.open.add(groupOf(position));
      build();
      state.row = rowOf(position);
      const c = columns.findIndex((column) => column.id === selected.column);
      state.column = c >= 0 ? c : Math.max(0, columns.findIndex((column) => column.id === selected.column.split("\x1f")[0]));
      scrollToRow();
    }
    draw();
  }

  const jump = (event) => {
    const box = overview.getBoundingClientRect();
    scroller.scrollTop = ((event.clientY - box.top) / box.height) * display.length * ROW - (root.clientHeight - head) / 2;
  };
  overview.onpointerdown = (event) => { overview.setPointerCapture(event.pointerId); jump(event); };
  overview.onpointermove = (event) => { if (event.buttons) jump(event); };
  scroller.onscroll = () => requestAnimationFrame(draw);
  scroller.onmousemove = hover;
  scroller.onmouseleave = () => { tip.hidden = true; };
  scroller.onwheel = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomTo(state.zoom + (event.deltaY > 0 ? 1 : -1), rowAt(event));
  };
  scroller.onclick = (event) => {
    const cell = press?.brushing ? null : cellAt(event);
    if (!cell) return;
    if (cell.row < 0) { openColumn(cell.column); return; }
    if (event.shiftKey && state.focused) { select([...state.selection, rowsSpan(state.row, cell.row)]); sendSelection(); return; }
    choose(cell);
  };
  scroller.onkeydown = key;
  whole.querySelector(".in").onclick = () => zoomTo(state.zoom - 1);
  whole.querySelector(".out").onclick = () => zoomTo(state.zoom + 1);
  whole.querySelector(".svg").onclick = () => save("svg");
  whole.querySelector(".png").onclick = () => save("png");
  const cleared = () => { if (state.selection.length) select([]); };
  window.addEventListener("mousemove", moved);
  window.addEventListener("mouseup", released);
  window.addEventListener("flipscope-map-selected", follow);
  window.addEventListener("flipscope-map-cleared", cleared);
  build();
  follow();
  draw();
  const resizing = new ResizeObserver(draw);
  resizing.observe(root);
  return onlyLast(root, () => {
    resizing.disconnect();
    window.removeEventListener("mousemove", moved);
    window.removeEventListener("mouseup", released);
    window.removeEventListener("flipscope-map-selected", follow);
    window.removeEventListener("flipscope-map-cleared", cleared);
  });
}
