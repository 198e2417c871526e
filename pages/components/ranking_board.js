// The ranking board: ranks, their limits and every sentence were computed by flipcore for a grid of levels; dragging looks
// another level up.
const STEP = 22;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".ranking");
  const headline = root.querySelector(".headline");
  const pairBox = root.querySelector(".pairs");
  const [head, body] = [root.querySelector("thead"), root.querySelector("tbody")];
  const { models, ways, best, worst, pairs, colours, opened } = data;
  root.style.setProperty("--genuine", colours.genuine);
  root.querySelector(".under").textContent = data.detail;
  const width = STEP * models.length + 8;
  const drawTrack = models.length <= 12;
  const parts = [];

  function build() {
    head.replaceChildren();
    body.replaceChildren();
    const titles = element("tr", "", "", head);
    for (const name of ["Prompt and extractor", ...models]) element("th", "", name, titles).scope = "col";
    ways.forEach((way, w) => {
      const row = element("tr", way.is_own ? "own" : "", "", body);
      row.classList.toggle("withheld", !way.claimed);
      row.classList.toggle("opened", way.id === opened);
      const title = element("td", "way", way.label, row);
      title.tabIndex = 0;
      title.setAttribute("role", "button");
      title.title = `${numberText(way.items, 0)} items. Click to read the outputs on which the models differ.`;
      const open = () => setTriggerValue("way", way.id);
      title.onclick = open;
      title.onkeydown = (event) => { if (event.key === "Enter") open(); };
      models.forEach((model, m) => {
        const cell = element("td", way.ranks[m] === 1 ? "first" : "", "", row);
        cell.title = `${model}: ${way.interval[m]} right`;
        element("span", "right", way.accuracy[m], cell);
        parts.push({ w, m, rank: way.ranks[m], claimed: way.claimed, ...track(cell, way.ranks[m]) });
      });
    });
  }

  // ranks from left to right: the first place at the left
  function track(cell, rank) {
    if (!drawTrack || rank === null) return { span: element("span", "span", "", cell) };
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("width", width);
    svg.setAttribute("height", 26);
    svg.setAttribute("aria-hidden", "true");
    cell.appendChild(svg);
    const x = (place) => 4 + STEP * (place - 0.5);
    for (let place = 1; place <= models.length; place += 1) {
      node("line", { x1: x(place), x2: x(place), y1: 9, y2: 17, stroke: colours.grid, "stroke-width": 2 }, svg);
    }
    const line = { y1: 13, y2: 13, "stroke-linecap": "round" };
    const ghost = node("line", { ...line, stroke: colours.floor, "stroke-width": 12, opacity: 0.35, visibility: "hidden" }, svg);
    const bar = node("line", { ...line, stroke: colours.genuine, "stroke-width": 6 }, svg);
    node("circle", { cx: x(rank), cy: 13, r: 6, fill: "currentColor" }, svg);
    return { x, bar, ghost, span: element("span", "span", "", cell) };
  }

  function stretched(line, part, at) {
    const place = (at * ways.length + part.w) * models.length + part.m;
    const [from, to] = [part.x(best[place]), part.x(worst[place])];
    line.setAttribute("x1", from);
    line.setAttribute("x2", from === to ? to + 0.01 : to);
    line.setAttribute("visibility", part.claimed ? "visible" : "hidden");
  }

  // each level from which the rank interval of some row is another
  function changes() {
    const found = [];
    const size = ways.length * models.length;
    for (let at = 1; at < data.levels.length; at += 1) {
      const moved = new Set();
      for (let place = 0; place < size; place += 1) {
        const way = ways[Math.floor(place / models.length)];
        const [now, before] = [at * size + place, (at - 1) * size + place];
        if (way.claimed && (best[now] !== best[before] || worst[now] !== worst[before])) moved.add(way.label);
      }
      if (!moved.size) continue;
      const level = percentText(data.levels[at], data.levels[at] > 0.989 ? 1 : 0);
      const more = moved.size > 3 ? ` and ${moved.size - 3} more rows` : "";
      found.push({ at, text: `at ${level} ranks change: ${[...moved].slice(0, 3).join("; ")}${more}` });
    }
    return found;
  }

  function paint(drag) {
    const at = root._at;
    write(headline, data.headline.sentences[data.headline.at[at]]);
    pairBox.replaceChildren();
    for (const pair of pairs) element("div", "pair", pair.sentences[pair.at[at]], pairBox);
    for (const part of parts) {
      const place = (at * ways.length + part.w) * models.length + part.m;
      const [from, to] = [best[place], worst[place]];
      const interval = from === to ? `rank ${from}` : `rank ${from} to ${to}`;
      write(part.span, part.rank === null ? "" : part.claimed ? interval : "not claimed");
      if (!part.bar) continue;
      stretched(part.bar, part, at);
      if (drag.isOn) stretched(part.ghost, part, drag.from);
      else part.ghost.setAttribute("visibility", "hidden");
    }
  }

  build();
  const stop = dragLevel(root, data, setTriggerValue, {
    paint,
    sentences: () => [headline, ...pairBox.children].map((one) => one.textContent),
  });
  markChanges(root.querySelector("input[type=range]"), changes());
  return stop;
}
