// Flip maps side by side: rows are items, columns axes or variants. Only looks up what flipcore computed.
// Item text reaches the page through textContent and fillText, never as HTML.
const ROW = 24;
const HEAD = 82;
const MEAN = 34;
const UNDEFINED = -1;

function permille(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

function mixed(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const rgb = [0, 1, 2].map((i) => Math.round(part(stops[low], i) + (part(stops[low + 1], i) - part(stops[low], i)) * (at - low)));
  return `rgb(${rgb.join(",")})`;
}

function hatched(ctx, x, y, w, h, colour) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, h);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let d = -h; d < w; d += 6) {
    ctx.moveTo(x + d, y + h);
    ctx.lineTo(x + d + h, y);
  }
  ctx.stroke();
  ctx.restore();
}

function dotted(ctx, x, y, w, h, share, colour) {
  const n = Math.max(1, Math.round(share * Math.floor(w / 7)));
  ctx.fillStyle = colour;
  for (let i = 0; i < n; i += 1) {
    ctx.beginPath();
    ctx.arc(x + 4 + i * 7, y + h - 4, 1.6, 0, 2 * Math.PI);
    ctx.fill();
  }
}

// a folded corner: the larger, the more of the cell's answers were cut off
function folded(ctx, x, y, w, h, share, colour) {
  const side = Math.min(w, h) * (0.3 + 0.5 * share);
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x + w - side, y);
  ctx.lineTo(x + w, y);
  ctx.lineTo(x + w, y + side);
  ctx.closePath();
  ctx.fill();
}

function fitted(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  let cut = text.length;
  while (cut > 1 && ctx.measureText(`${text.slice(0, cut)}…`).width > width) cut -= 1;
  return `${text.slice(0, cut).trimEnd()}…`;
}

// a column's name on at most two lines
function lines(ctx, text, width) {
  if (ctx.measureText(text).width <= width || !text.includes(" ")) return [fitted(ctx, text, width)];
  const words = text.split(" ");
  let first = words.shift();
  while (words.length > 1 && ctx.measureText(`${first} ${words[0]}`).width <= width) first += ` ${words.shift()}`;
  return [fitted(ctx, first, width), fitted(ctx, words.join(" "), width)];
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".flipmap");
  const canvas = root.querySelector("canvas");
  const scroller = root.querySelector(".scroller");
  const filler = root.querySelector(".filler");
  const tip = root.querySelector(".tip");
  const { rows, columns, colours, selected } = data;
  const panels = data.panels.map((panel) => ({
    ...panel, values: permille(panel.values), unreadable: permille(panel.unreadable), cut: permille(panel.cut), means: permille(panel.means) }));
  const state = root._state ?? (root._state = { row: 0, panel: 0, column: 0, focused: false, shown: "" });
  const font = getComputedStyle(root).getPropertyValue("--st-font") || "sans-serif";
  parentElement.querySelector(".scale").style.background = `linear-gradient(to right, ${colours.flip.join(",")})`;
  parentElement.querySelector(".hatch").style.background =
    `repeating-linear-gradient(135deg, ${colours.undefined} 0 1px, transparent 1px 5px)`;
  filler.style.height = `${HEAD + rows.length * ROW + 4}px`;
  root.style.height = `${Math.min(data.height, HEAD + rows.length * ROW + 8)}px`;
  scroller.setAttribute("aria-rowcount", String(rows.length));
  if (selected) {
    const row = rows.findIndex((one) => one.id === selected.item);
    state.focused = row >= 0;
    state.row = Math.max(0, row);
    state.column = Math.max(0, columns.findIndex((column) => column.id === selected.column));
    // a view that was opened from elsewhere (a link, j and k) comes into sight; scrolling away from it stays possible
    const wanted = `${selected.item}|${selected.column}`;
    if (state.focused && state.shown !== wanted) intoSight();
    state.shown = wanted;
  }

  function geometry() {
    const width = scroller.clientWidth;
    const label = Math.min(300, width * 0.24);
    const gap = 14;
    const panel = (width - label - gap * (panels.length - 1) - 4) / panels.length;
    return { width, label, gap, panel, cell: (panel - MEAN) / columns.length };
  }

  function draw() {
    const g = geometry();
    const height = root.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(g.width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(g.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${g.width}px`;
      canvas.style.height = `${height}px`;
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, g.width, height);
    const first = Math.floor(scroller.scrollTop / ROW);
    const shift = scroller.scrollTop - first * ROW;
    const last = Math.min(rows.length, first + Math.ceil((height - HEAD) / ROW) + 1);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, HEAD, g.width, height - HEAD);
    ctx.clip();
    for (let r = first; r < last; r += 1) drawRow(ctx, g, r, HEAD + (r - first) * ROW - shift);
    ctx.restore();
    drawHead(ctx, g);
  }

  function drawRow(ctx, g, r, y) {
    const chosen = state.focused && r === state.row;
    ctx.font = `${chosen ? "600 " : ""}13px ${font}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.fillStyle = colours.text;
    ctx.fillText(fitted(ctx, rows[r].label, g.label - 10), 0, y + ROW / 2);
    panels.forEach((panel, p) => {
      const left = g.label + p * (g.panel + g.gap);
      columns.forEach((column, c) => drawCell(ctx, panel, p, r, c, left + c * g.cell, y, g.cell));
      const mean = panel.means[r];
      if (mean > 0) {
        ctx.fillStyle = colours.muted;
        ctx.fillRect(left + panelWidth(g), y + ROW / 2 - 3, (MEAN - 6) * mean / 1000, 6);
      }
    });
  }

  function panelWidth(g) {
    return g.cell * columns.length + 4;
  }

  function drawCell(ctx, panel, p, r, c, x, y, cell) {
    const value = panel.values[r * columns.length + c];
    const unreadable = panel.unreadable[r * columns.length + c];
    if (value === UNDEFINED) {
      hatched(ctx, x + 1, y + 1, cell - 2, ROW - 2, colours.undefined);
    } else {
      ctx.fillStyle = mixed(colours.flip, value / 1000);
      ctx.fillRect(x + 1, y + 1, cell - 2, ROW - 2);
    }
    if (unreadable > 0) {
      dotted(ctx, x + 1, y + 1, cell - 2, ROW - 2, unreadable / 1000, value > 500 ? colours.on_dark : colours.dots);
    }
    const cut = panel.cut[r * columns.length + c];
    if (cut > 0) folded(ctx, x + 1, y + 1, cell - 2, ROW - 2, cut / 1000, value > 500 ? colours.on_dark : colours.dots);
    if (state.focused && r === state.row && c === state.column) {
      ctx.strokeStyle = colours.artifact;
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
      columns.forEach((column, c) => {
        const middle = left + (c + 0.5) * g.cell;
        ctx.font = `13px ${font}`;
        ctx.fillStyle = colours.text;
        const name = lines(ctx, column.label, g.cell - 4);
        name.forEach((line, i) => ctx.fillText(line, middle, 32 + 14 * (i + 2 - name.length)));
        const [value, interval] = panel.strip[c];
        ctx.font = `600 13px ${font}`;
        ctx.fillText(value, middle, 62);
        ctx.font = `11px ${font}`;
        ctx.fillStyle = colours.muted;
        if (ctx.measureText(interval).width <= g.cell - 2) ctx.fillText(interval, middle, 76);
      });
      ctx.font = `11px ${font}`;
      ctx.fillStyle = colours.muted;
      ctx.textAlign = "left";
      ctx.fillText("mean", left + panelWidth(g), 76);
    });
  }

  function cellAt(event) {
    const box = scroller.getBoundingClientRect();
    const g = geometry();
    const x = event.clientX - box.left - g.label;
    const y = event.clientY - box.top;
    const p = Math.floor(x / (g.panel + g.gap));
    const c = Math.floor((x - p * (g.panel + g.gap)) / g.cell);
    if (x < 0 || p >= panels.length || c >= columns.length) return null;
    if (y < HEAD) return { row: UNDEFINED, column: c, panel: p };
    const r = Math.floor((y - HEAD + scroller.scrollTop) / ROW);
    return r >= rows.length ? null : { row: r, column: c, panel: p };
  }

  function choose(cell) {
    Object.assign(state, cell, { focused: true });
    state.shown = `${rows[state.row].id}|${columns[state.column].id}`;
    draw();
    setTriggerValue("cell", { item: rows[state.row].id, column: columns[state.column].id, panel: state.panel });
  }

  function told(cell) {
    const [panel, column] = [panels[cell.panel], columns[cell.column]];
    if (cell.row === UNDEFINED) return `${column.label}, ${panel.title}\nflip rate ${panel.strip[cell.column].join(" ")}`;
    const at = cell.row * columns.length + cell.column;
    const [value, unreadable, cut] = [panel.values[at], panel.unreadable[at], panel.cut[at]];
    const said = value === UNDEFINED ? "undefined: nothing to compare" : `${(value / 10).toFixed(0)} % of pairs flip`;
    const unread = unreadable > 0 ? `, ${(unreadable / 10).toFixed(0)} % unreadable` : "";
    const ended = cut > 0 ? `, ${(cut / 10).toFixed(0)} % cut off` : "";
    return `${rows[cell.row].label}\n${column.label}, ${panel.title}: ${said}${unread}${ended}`;
  }

  function hover(event) {
    const cell = cellAt(event);
    tip.hidden = cell === null;
    if (cell === null) return;
    tip.textContent = told(cell);
    const box = root.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 14, box.width - 280))}px`;
    tip.style.top = `${Math.min(event.clientY - box.top + 14, box.height - tip.offsetHeight - 4)}px`;
  }

  function intoSight() {
    const top = state.row * ROW;
    const room = root.clientHeight - HEAD - ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
  }

  function key(event) {
    const moves = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    if (!selected) Object.assign(moves, { j: [1, 0], k: [-1, 0] }); // with the inspector open they are its own keys
    if (event.key === "Enter") choose({});
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [down, right] = moves[event.key];
    state.row = Math.min(Math.max(state.row + down, 0), rows.length - 1);
    state.column = Math.min(Math.max(state.column + right, 0), columns.length - 1);
    state.focused = true;
    intoSight();
    draw();
  }

  scroller.onscroll = () => requestAnimationFrame(draw);
  scroller.onmousemove = hover;
  scroller.onmouseleave = () => { tip.hidden = true; };
  scroller.onclick = (event) => { const cell = cellAt(event); if (cell && cell.row !== UNDEFINED) choose(cell); };
  scroller.onkeydown = key;
  draw();
  const seen = new ResizeObserver(draw);
  seen.observe(root);
  return () => seen.disconnect();
}
