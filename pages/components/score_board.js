// The score board: limits and sentences were computed by flipcore for a grid of levels; dragging looks another level up.
const SHAPES = {
  wording: "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0",
  reader: "M0 -7L7 0L0 7L-7 0Z",
  own: "M-5.5 -5.5H5.5V5.5H-5.5Z",
  published: "M-7 -6H7L0 7Z",
};
const LINES = [["published", "Published"], ["bar", ""], ["wording", "Each prompt"], ["own", "Own prompt"], ["reader", "Each extractor"]];
const THICK = { elsewhere: 2, wordings: 12, questions: 20, reruns: 28 };
const NEAR = 13;  // pixels at which two dots would cover each other

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".scores");
  const [says, models, key] = [root.querySelector(".says"), root.querySelector(".models"), root.querySelector(".key")];
  const { ends, colours, opened } = data;
  const fills = { elsewhere: colours.muted, wordings: colours.control, questions: colours.genuine, reruns: colours.benchmark };
  const dotFills = { wording: colours.text, reader: colours.artifact, own: colours.fixed, published: colours.broken };
  const x = (value) => `${2 + 96 * Math.min(Math.max((value - ends[0]) / (ends[1] - ends[0]), 0), 1)}%`;
  const shown = (value) => data.is_share ? percentText(value, 1) : numberText(value);
  const parts = [];

  function picture(parent, height, name) {
    const svg = node("svg", { height, role: "group", "aria-label": name }, parent);
    for (const tick of ticks()) node("line", { x1: x(tick), x2: x(tick), y1: 0, y2: height, stroke: colours.grid }, svg);
    return svg;
  }

  function ticks() {
    const span = ends[1] - ends[0];
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((one) => span / one <= 6) ?? span / 5;
    const first = Math.ceil(ends[0] / step - 1e-9);
    const every = [];
    for (let i = first; i * step <= ends[1] + 1e-9; i += 1) every.push(i * step);
    every.step = step;
    return every;
  }

  function line(box, title) {
    const row = element("div", "line", "", box);
    element("span", "", title, row);
    return row;
  }

  function build() {
    for (const one of [says, models, key]) one.replaceChildren();
    parts.length = 0;
    for (const model of data.models) {
      const headline = element("div", "headline", "", says);
      headline.setAttribute("role", "heading");
      headline.setAttribute("aria-level", "3");
      const part = { model, headline, under: element("div", "under", "", says), bars: [] };
      const box = element("div", "model", "", models);
      if (data.models.length > 1) element("div", "name", model.name, box);
      for (const [kind, title] of LINES) {
        if (kind === "bar") nested(part, box);
        else dots(model, kind, title, box);
      }
      parts.push(part);
    }
    axis();
    legend();
  }

  function nested(part, box) {
    const svg = picture(line(box, "Score"), 40, `${part.model.name}: intervals`);
    for (const bar of [...part.model.bars].reverse()) {
      const shape = { y1: 20, y2: 20, stroke: fills[bar.name], "stroke-width": THICK[bar.name] };
      const ghost = node("line", { ...shape, opacity: 0.3, visibility: "hidden" }, svg);
      const drawn = node("line", shape, svg);
      const caps = bar.name === "elsewhere" ? [0, 1].map(() => node("line", { y1: 13, y2: 27, stroke: fills[bar.name], "stroke-width": 2 }, svg)) : [];
      part.bars.push({ bar, drawn, ghost, caps, title: node("title", {}, drawn) });
    }
    const centre = node("circle", { cx: x(part.model.score), cy: 20, r: 6, fill: colours.page, stroke: colours.text, "stroke-width": 2 }, svg);
    node("title", {}, centre).textContent = `Score ${shown(part.model.score)}`;
  }

  // dots that would cover each other stand above one another; where they stand is drawn, not estimated
  function dots(model, kind, title, box) {
    const every = model.dots.filter((dot) => dot.kind === kind).sort((a, b) => a.score - b.score);
    if (!every.length) return;
    const width = models.clientWidth > 760 ? models.clientWidth - 160 : models.clientWidth || 600;
    const near = (NEAR / width) * (ends[1] - ends[0]);
    const storeys = [];
    for (const dot of every) {
      let storey = storeys.findIndex((last) => dot.score - last > near);
      if (storey < 0) storey = storeys.push(dot.score) - 1;
      else storeys[storey] = dot.score;
      dot.storey = storey;
    }
    const height = 8 + 14 * storeys.length;
    const svg = picture(line(box, every.length > 1 ? `${title} (${every.length})` : title), height, title);
    every.forEach((dot, i) => {
      const place = node("svg", { x: x(dot.score), y: height - 11 - 14 * dot.storey, overflow: "visible" }, svg);
      const isOpen = opened !== "" && opened === dot.behind.way;
      const group = node("g", { class: "dot", role: "button", tabindex: 0, "aria-label": `${dot.title}: ${dot.text}` }, place);
      node("path", { d: SHAPES[kind], fill: dotFills[kind], "fill-opacity": kind === "wording" && !isOpen ? 0.75 : 1,
        stroke: isOpen ? colours.text : colours.page, "stroke-width": isOpen ? 3 : 1 }, group);
      node("title", {}, group).textContent = `${dot.title}: ${dot.text}`;
      const open = () => setTriggerValue("dot", { model: model.name, ...dot.behind });
      if (kind === "reader") named(place, dot, every[i - 1], every[i + 1], width / (ends[1] - ends[0]));
      if (kind === "published") return;
      group.onclick = open;
      group.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } };
    });
  }

  // a dot's name beside it, on the side where there is room
  function named(place, dot, before, after, scale) {
    const long = 7 * dot.title.length + 24;
    const isRight = ((after?.score ?? ends[1]) - dot.score) * scale > long;
    if (!isRight && (dot.score - (before?.score ?? ends[0])) * scale < long) return;
    node("text", { x: isRight ? 11 : -11, y: 4, "font-size": 12.5, "text-anchor": isRight ? "start" : "end", fill: colours.muted }, place).textContent = dot.title;
  }

  function axis() {
    const svg = picture(line(models, ""), 22, "Scale of the score");
    const every = ticks();
    for (const tick of every) {
      node("text", { x: x(tick), y: 15, "font-size": 12.5, "text-anchor": "middle", fill: colours.muted }, svg).textContent = data.is_share ? `${tickText(100 * tick, 100 * every.step)}%` : tickText(tick, every.step);
    }
  }

  // what each colour is, from inside out
  function legend() {
    for (const bar of data.models[0].bars) {
      if (!data.models.some((model) => model.bars.some((one) => one.name === bar.name && one.low[data.start] !== null))) continue;
      const item = element("span", "", "", key);
      const swatch = element("i", "", "", item);
      Object.assign(swatch.style, { background: fills[bar.name], height: `${Math.max(THICK[bar.name] / 2, 2)}px` });
      item.append(bar.title);
    }
  }

  function stretched(one, from, to) {
    one.setAttribute("x1", x(from));
    one.setAttribute("x2", x(to));
  }

  function paint(drag) {
    const at = root._at;
    for (const { model, headline, under, bars } of parts) {
      write(headline, model.sentences.sentences[model.sentences.at[at]]);
      write(under, model.details.sentences[model.details.at[at]]);
      for (const { bar, drawn, ghost, caps, title } of bars) {
        const [low, high] = [bar.low[at], bar.high[at]];
        for (const one of [drawn, ...caps]) one.setAttribute("visibility", low === null ? "hidden" : "visible");
        ghost.setAttribute("visibility", low !== null && drag.isOn ? "visible" : "hidden");
        if (low === null) continue;
        stretched(drawn, low, high);
        caps.forEach((cap, i) => stretched(cap, i ? high : low, i ? high : low));
        if (drag.isOn) stretched(ghost, bar.low[drag.from], bar.high[drag.from]);
        write(title, `${bar.title}: ${shown(low)} to ${shown(high)}`);
      }
    }
  }

  build();
  return dragLevel(root, data, setTriggerValue, { paint, sentences: () => parts.map((one) => one.headline.textContent) });
}
