// Flip maps side by side: rows are items, columns axes or variants. Only looks up what flipcore computed.
// Item text reaches the page through textContent and fillText, never as HTML.
const ROW = 24;
const HEAD = 64;
const LABEL = 210;

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

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".flipmap");
  const canvas = root.querySelector("canvas");
  const scroller = root.querySelector(".scroller");
  const filler = root.querySelector(".filler");
  const tip = root.querySelector(".tip");
  const { rows, columns, panels, colours, selected } = data;
  const state = root._state ?? (root._state = { row: 0, panel: 0, column: 0, focused: false });
  const style = getComputedStyle(root);
  const font = style.getPropertyValue("--st-font") || "sans-serif";
  if (selected) {
    state.row = Math.max(0, rows.findIndex((row) => row.id === selected.item));
    state.column = Math.max(0, columns.findIndex((column) => column.id === selected.column));
    state.focused = true;
  }
  parentElement.querySelector(".scale").style.background = `linear-gradient(to right, ${colours.flip.join(",")})`;
  parentElement.querySelector(".hatch").style.background =
    `repeating-linear-gradient(135deg, ${colours.undefined} 0 1px, transparent 1px 5px)`;
  filler.style.height = `${HEAD + rows.length * ROW + 4}px`;
  root.style.height = `${Math.min(data.height, HEAD + rows.length * ROW + 8)}px`;

  function geometry() {
    const width = scroller.clientWidth;
    const label = Math.min(LABEL, width * 0.3);
    const gap = 18;
    const panel = (width - label - gap * (panels.length - 1) - 4) / panels.length;
    return { width, label, gap, panel, cell: panel / columns.length };
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
    ctx.font = `13px ${font}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.fillStyle = colours.text;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, y, g.label - 8, ROW);
    ctx.clip();
    ctx.fillText(rows[r].label, 0, y + ROW / 2);
    ctx.restore();
    panels.forEach((panel, p) => {
      columns.forEach((column, c) => {
        const x = g.label + p * (g.panel + g.gap) + c * g.cell;
        const value = panel.values[r * columns.length + c];
        const share = panel.unreadable[r * columns.length + c];
        if (value === null || value === undefined) {
          hatched(ctx, x + 1, y + 1, g.cell - 2, ROW - 2, colours.undefined);
        } else {
          ctx.fillStyle = mixed(colours.flip, value);
          ctx.fillRect(x + 1, y + 1, g.cell - 2, ROW - 2);
        }
        if (share > 0) dotted(ctx, x + 1, y + 1, g.cell - 2, ROW - 2, share, value > 0.5 ? colours.on_dark : colours.dots);
        if (state.focused && r === state.row && c === state.column) {
          ctx.strokeStyle = colours.artifact;
          ctx.lineWidth = p === state.panel ? 3 : 1.5;
          ctx.strokeRect(x + 2, y + 2, g.cell - 4, ROW - 4);
        }
      });
    });
  }

  function drawHead(ctx, g) {
    ctx.textBaseline = "alphabetic";
    panels.forEach((panel, p) => {
      const left = g.label + p * (g.panel + g.gap);
      ctx.fillStyle = colours.text;
      ctx.font = `600 15px ${font}`;
      ctx.textAlign = "left";
      ctx.fillText(panel.title, left, 15);
      columns.forEach((column, c) => {
        const middle = left + (c + 0.5) * g.cell;
        ctx.textAlign = "center";
        ctx.font = `13px ${font}`;
        ctx.fillStyle = colours.text;
        ctx.fillText(fitted(ctx, column.label, g.cell - 4), middle, 36);
        ctx.fillStyle = colours.muted;
        ctx.font = `12px ${font}`;
        ctx.fillText(fitted(ctx, panel.strip[c] ?? "", g.cell - 2), middle, 54);
      });
    });
  }

  function fitted(ctx, text, width) {
    if (ctx.measureText(text).width <= width) return text;
    let cut = text.length;
    while (cut > 1 && ctx.measureText(`${text.slice(0, cut)}…`).width > width) cut -= 1;
    return `${text.slice(0, cut)}…`;
  }

  function cellAt(event) {
    const box = scroller.getBoundingClientRect();
    const g = geometry();
    const x = event.clientX - box.left - g.label;
    const y = event.clientY - box.top - HEAD;
    const p = Math.floor(x / (g.panel + g.gap));
    const c = Math.floor((x - p * (g.panel + g.gap)) / g.cell);
    const r = Math.floor((y + scroller.scrollTop) / ROW);
    if (x < 0 || y < 0 || p >= panels.length || c >= columns.length || r >= rows.length) return null;
    return { row: r, column: c, panel: p };
  }

  function choose(cell) {
    Object.assign(state, cell, { focused: true });
    draw();
    setTriggerValue("cell", { item: rows[state.row].id, column: columns[state.column].id, panel: state.panel });
  }

  function hover(event) {
    const cell = cellAt(event);
    tip.hidden = cell === null;
    if (cell === null) return;
    const at = cell.row * columns.length + cell.column;
    const value = panels[cell.panel].values[at];
    const share = panels[cell.panel].unreadable[at];
    const said = value === null ? "undefined: nothing to compare" : `${(100 * value).toFixed(0)} % of pairs flip`;
    const unread = share > 0 ? `, ${(100 * share).toFixed(0)} % unreadable` : "";
    tip.textContent = `${rows[cell.row].label}\n${columns[cell.column].label}, ${panels[cell.panel].title}: ${said}${unread}`;
    const box = root.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - 280)}px`;
    tip.style.top = `${Math.min(event.clientY - box.top + 14, box.height - 56)}px`;
  }

  function key(event) {
    const moves = { ArrowDown: [1, 0], j: [1, 0], ArrowUp: [-1, 0], k: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
    if (event.key === "Enter") choose({});
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [down, right] = moves[event.key];
    state.row = Math.min(Math.max(state.row + down, 0), rows.length - 1);
    state.column = Math.min(Math.max(state.column + right, 0), columns.length - 1);
    state.focused = true;
    const top = state.row * ROW;
    const room = root.clientHeight - HEAD - ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
    draw();
  }

  scroller.onscroll = () => requestAnimationFrame(draw);
  scroller.onmousemove = hover;
  scroller.onmouseleave = () => { tip.hidden = true; };
  scroller.onclick = (event) => { const cell = cellAt(event); if (cell) choose(cell); };
  scroller.onkeydown = key;
  draw();
  const seen = new ResizeObserver(draw);
  seen.observe(root);
  return () => seen.disconnect();
}
