// Two buttons at every chart save it as SVG or PNG, with its caption and its origin. They copy Plotly's drawing from the page, so
// nothing is drawn again. flipcore writes the caption, which is part of the chart's data.
const SAVE_SVG = "http://www.w3.org/2000/svg";
const LINE_PX = 17;

function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (longer.length > most && lines[lines.length - 1]) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function keyOf(plot) {
  const place = plot.closest('[class*="st-key-"]');
  return [...(place?.classList ?? [])].find((name) => name.startsWith("st-key-"))?.slice(7) ?? "figure";
}

// Return the page, the study and the version. The study comes from the link, or from the card that holds the chart.
function provenance(plot, version) {
  const link = new URLSearchParams(location.search);
  const study = link.get("study") ?? link.get("sets") ?? (/^bar-(\w+)$/.exec(keyOf(plot)) ?? [])[1];
  return [document.querySelector("[data-testid=stMain] h1")?.textContent, study ? `study ${study}` : "", `Flipscope ${version}`]
    .filter(Boolean).join(" · ");
}

function picture(plot, data) {
  const { width, height } = plot.getBoundingClientRect();
  const lines = [...wrapped(plot.layout?.meta?.caption ?? "", width / 6.4), provenance(plot, data.version)].filter(Boolean);
  const tall = Math.ceil(height + LINE_PX * lines.length + 14);
  const svg = document.createElementNS(SAVE_SVG, "svg");
  for (const [name, value] of Object.entries({ width: Math.ceil(width), height: tall, viewBox: `0 0 ${Math.ceil(width)} ${tall}` })) {
    svg.setAttribute(name, value);
  }
  const ground = document.createElementNS(SAVE_SVG, "rect");
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: data.page })) ground.setAttribute(name, value);
  svg.append(ground);
  for (const canvas of plot.querySelectorAll(".gl-canvas-focus, .gl-canvas-context")) {
    const image = document.createElementNS(SAVE_SVG, "image");
    for (const [name, value] of Object.entries({ width, height, href: canvas.toDataURL() })) image.setAttribute(name, value);
    svg.append(image);
  }
  for (const layer of plot.querySelectorAll("svg.main-svg")) {
    const copy = layer.cloneNode(true);
    for (const invisible of copy.querySelectorAll(".draglayer, .hoverlayer")) invisible.remove();
    // Other programs may draw wider letters, which a clip path would cut off.
    for (const clipped of copy.querySelectorAll(".legend, .legend [clip-path]")) clipped.removeAttribute("clip-path");
    copy.removeAttribute("style");
    svg.append(copy);
  }
  lines.forEach((line, i) => {
    const words = document.createElementNS(SAVE_SVG, "text");
    const where = { x: 8, y: height + LINE_PX * (i + 1), fill: data.muted, "font-size": 13, "font-family": "sans-serif" };
    for (const [name, value] of Object.entries(where)) words.setAttribute(name, value);
    words.textContent = line;
    svg.append(words);
  });
  return { text: new XMLSerializer().serializeToString(svg), width: Math.ceil(width), height: tall };
}

function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function save(plot, kind, data) {
  const { text, width, height } = picture(plot, data);
  const drawing = new Blob([text], { type: "image/svg+xml" });
  if (kind === "svg") return keep(drawing, `${keyOf(plot)}.svg`);
  const image = new Image();
  image.onload = () => {
    const sheet = document.createElement("canvas");
    Object.assign(sheet, { width: 2 * width, height: 2 * height });
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    URL.revokeObjectURL(image.src);
    sheet.toBlob((blob) => keep(blob, `${keyOf(plot)}.png`), "image/png");
  };
  image.src = URL.createObjectURL(drawing);
  return null;
}

function offer(plot) {
  const frame = plot.closest("[data-testid=stPlotlyChart]");
  if (!frame || frame.querySelector(":scope > .save-figure")) return;
  const bar = document.createElement("div");
  bar.className = "save-figure";
  for (const kind of ["svg", "png"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind.toUpperCase();
    button.title = `Save this figure as ${kind.toUpperCase()}, with its caption`;
    button.onclick = () => save(frame.querySelector(".js-plotly-plot") ?? plot, kind, window.flipscopeSaving);
    bar.append(button);
  }
  frame.append(bar);
}

function offerAll() { document.querySelectorAll("[data-testid=stPlotlyChart] .js-plotly-plot").forEach(offer); }

function offerSaving(data) {
  window.flipscopeSaving = data;
  window.flipscopeSavingWatch?.disconnect();
  let waiting = 0;
  window.flipscopeSavingWatch = new MutationObserver(() => {
    waiting ||= requestAnimationFrame(() => { waiting = 0; offerAll(); });
  });
  window.flipscopeSavingWatch.observe(document.querySelector("[data-testid=stMain]") ?? document.body, { childList: true, subtree: true });
  offerAll();
}
