// Drawing functions of the flip map for a canvas, and `SvgPen`, which has the methods of a canvas but writes SVG.
// Return the red, green or blue of a hex colour, from 0 to 255; `i` is 0, 1 or 2.
function channel(hex, i) {
  return parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
}

// Return the colour at a share from 0 to 1 on a scale of hex colours.
function mixed(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const rgb = [0, 1, 2].map((i) => Math.round(channel(stops[low], i) + (channel(stops[low + 1], i) - channel(stops[low], i)) * (at - low)));
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

// Draw a folded corner, which is larger if more of the cell's answers were cut off.
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

// Draw an interval [value, low, high] as a line with a mark at the value, on the scale of the cell.
function whisker(ctx, x, y, w, estimate, scale, colour) {
  const at = (value) => x + w * Math.min(Math.max(scale(value), 0), 1);
  const [value, low, high] = estimate;
  if (value === null) return;
  ctx.fillStyle = colour;
  if (low !== null && high !== null) ctx.fillRect(at(low), y - 1, Math.max(at(high) - at(low), 1), 2);
  ctx.fillRect(at(value) - 1, y - 3, 2, 6);
}

function fitted(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  // Leave out the middle, because questions of one template differ at their ends.
  const shortened = (n) => `${text.slice(0, Math.ceil(n / 2)).trimEnd()}…${text.slice(text.length - Math.floor(n / 2)).trimStart()}`;
  let n = Math.max(1, Math.min(text.length - 1, Math.floor((text.length * width) / ctx.measureText(text).width) + 2));
  while (n > 1 && ctx.measureText(shortened(n)).width > width) n -= 1;
  return shortened(n);
}

// Write a text upwards, starting at y.
function upwards(ctx, text, x, y) {
  if (ctx.upwards) { ctx.upwards(text, x, y); return; }
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "left";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

// Return a column's name on at most two lines; split a long word rather than leave out its middle.
function lines(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return [text];
  if (!text.includes(" ")) {
    const cut = Math.floor(text.length / 2);
    const parts = [`${text.slice(0, cut)}-`, text.slice(cut)];
    return parts.every((part) => ctx.measureText(part).width <= width) ? parts : [fitted(ctx, text, width)];
  }
  const words = text.split(" ");
  let first = words.shift();
  while (words.length > 1 && ctx.measureText(`${first} ${words[0]}`).width <= width) first += ` ${words.shift()}`;
  return [fitted(ctx, first, width), fitted(ctx, words.join(" "), width)];
}

// Return a text on as many lines as it needs.
function wrapped(ctx, text, width) {
  const rows = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${rows.at(-1)} ${word}`.trim();
    if (rows.at(-1) && ctx.measureText(longer).width > width) rows.push(word);
    else rows[rows.length - 1] = longer;
  }
  return rows;
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
// A character that XML forbids would make the file unreadable.
const escaped = (text) => String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
  .replace(/[&<>"']/g, (character) => ENTITIES[character]);
const rounded = (x) => Math.round(100 * x) / 100;

class SvgPen {
  constructor(width, height, ruler) {
    Object.assign(this, { width, height, ruler, parts: [], stack: [], path: "", clips: 0, opened: 0 });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "13px sans-serif", textAlign: "left",
      textBaseline: "alphabetic", globalAlpha: 1 });
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  alpha() { return this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`; }

  fillRect(x, y, w, h) {
    this.parts.push(`<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(Math.max(w, 0))}" height="${rounded(Math.max(h, 0))}" `
      + `fill="${escaped(this.fillStyle)}"${this.alpha()}/>`);
  }

  strokeRect(x, y, w, h) {
    this.parts.push(`<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(Math.max(w, 0))}" height="${rounded(Math.max(h, 0))}" `
      + `fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${this.lineWidth}"/>`);
  }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${rounded(x)} ${rounded(y)}`; }
  lineTo(x, y) { this.path += `L${rounded(x)} ${rounded(y)}`; }
  closePath() { this.path += "Z"; }
  rect(x, y, w, h) { this.path += `M${rounded(x)} ${rounded(y)}h${rounded(w)}v${rounded(h)}h${rounded(-w)}Z`; }
  arc(x, y, r) { this.path += `M${rounded(x - r)} ${rounded(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`; }
  fill() { this.parts.push(`<path d="${this.path}" fill="${escaped(this.fillStyle)}"${this.alpha()}/>`); }
  stroke() {
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${this.lineWidth}"/>`);
  }

  save() {
    this.stack.push({ fillStyle: this.fillStyle, strokeStyle: this.strokeStyle, lineWidth: this.lineWidth, font: this.font,
      textAlign: this.textAlign, textBaseline: this.textBaseline, globalAlpha: this.globalAlpha, opened: this.opened });
    this.opened = 0;
  }

  restore() {
    this.parts.push("</g>".repeat(this.opened));
    Object.assign(this, this.stack.pop());
  }

  clip() {
    this.clips += 1;
    this.opened += 1;
    this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font);
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const shift = this.textBaseline === "middle" ? 0.34 * Number(size) : 0;
    this.parts.push(`<text x="${rounded(x)}" y="${rounded(y + shift)}" font-family="${escaped(family)}" font-size="${size}" `
      + `font-weight="${weight ?? 400}" text-anchor="${anchor}" fill="${escaped(this.fillStyle)}">${escaped(text)}</text>`);
  }

  upwards(text, x, y) {
    this.parts.push(`<g transform="rotate(-90 ${rounded(x)} ${rounded(y)})">`);
    const oldAlign = this.textAlign;
    this.textAlign = "left";
    this.fillText(text, x, y);
    this.textAlign = oldAlign;
    this.parts.push("</g>");
  }

  text(title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" `
      + `viewBox="0 0 ${this.width} ${this.height}" role="img"><title>${escaped(title)}</title>${this.parts.join("")}</svg>`;
  }
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
