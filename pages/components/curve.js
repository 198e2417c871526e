// Every choice: a mark per way of counting, and below it which options the way takes. Python sends each way's limits at every level,
// so that moves of the level or the threshold and switched options are answered here, during the drag. A specification is one
// combination of options; specifications with equal results are one way. `options` and `way` are per specification, the rest per way.
const PLOT_PX = 230, STRIP_PX = 20, TOP_PX = 34;
const CLOSED = 9; // the state of a way that may not be claimed

// Return the context of a canvas with this width and height in CSS pixels, at the resolution of the screen.
function pen(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

class Curve {
  constructor(board, cell, picture) {
    Object.assign(this, { board, picture, colors: board.colors, strips: [], pointed: -1, shown: [] });
    for (const [name, Numbers] of Object.entries({ options: Uint8Array, way: Uint16Array, closed: Uint8Array, estimate: Float64Array,
      low: Float64Array, high: Float64Array, lowest: Float64Array, highest: Float64Array, places: Uint16Array })) this[name] = unpacked(picture[name], Numbers);
    [this.n, this.n_ways] = [this.way.length, this.estimate.length];
    this.state = new Int8Array(this.n_ways);
    this.root = element("div", "every", "", cell);
    this.build();
    board.painters.unshift(() => this.update()); // first, because the headline depends on the states of the ways
    board.root._sizes?.disconnect();
    board.root._sizes = new ResizeObserver(() => this.measure());
    board.root._sizes.observe(this.root);
    board.root._curve = this;
  }

  build() {
    const { picture, root } = this;
    this.names = [["ahead", 1], ["behind", -1]].map(([name, sign], k) => {
      const box = element("div", `side ${name}`, "", root);
      element("b", "", picture[name], box);
      return { sign, word: picture.words[k], count: element("span", "", "", box), beyond: element("small", "", "", box) };
    });
    this.plot = element("canvas", "plot", "", root);
    this.plot.tabIndex = 0;
    for (const [name, value] of [["role", "slider"], ["aria-label", picture.name], ["aria-valuemin", "1"]]) {
      this.plot.setAttribute(name, value);
    }
    this.plot.onpointermove = (event) => this.point(this.placeAt(event));
    this.plot.onpointerleave = () => this.point(-1);
    this.plot.onclick = (event) => this.open(this.placeAt(event));
    this.plot.onkeydown = (event) => this.key(event);
    this.buildKey();
    this.line = element("div", "pointed", "", root);
    this.small = element("p", "small", "", root);
    element("span", "head", `${picture.words[0]} in`, root);
    element("span", "head effect", "moves it by, points", root);
    this.row = 2;
    for (const c of picture.drawn) {
      const choice = picture.choices[c];
      const group = element("div", "choice", "", root);
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", choice.title);
      element("b", "title", choice.title, group);
      choice.options.forEach((option, o) => this.buildOption(group, choice, c, option, o));
    }
    if (picture.unmoved) element("p", "unmoved", picture.unmoved, root);
    if (picture.offered.length) this.buildOffered();
  }

  // Say beside the plot what strong, pale and hollow marks mean.
  buildKey() {
    const key = element("div", "key", "", this.root);
    const rows = [["strong", "●▼", "beyond chance"], ["pale", "●▼", "not beyond chance"]];
    const isOtherwise = this.picture.choices.some(({ options }) => options.some((option) => option.is_uncertain));
    if (isOtherwise) rows.push(["strong", "■■", "asks otherwise, counted apart"]);
    if (this.closed.some((reason) => reason)) rows.push(["hollow", "○", "may not be claimed"]);
    rows.push(["limits", " ", "interval at the level above"]);
    if (this.picture.unread) rows.push(["unread", " ", this.picture.unread]);
    for (const [look, glyphs, text] of rows) {
      const row = element("span", look, "", key);
      for (const glyph of glyphs) element("i", "", glyph, row).setAttribute("aria-hidden", "true");
      row.append(` ${text}`);
    }
  }

  // Offer options that ask something slightly different; the server sends their ways once they are switched on.
  buildOffered() {
    const { picture: { offered }, root, board } = this;
    const box = element("details", "offered", "", root);
    element("summary", "", `Also with other questions or prompts (${offered.length} more)`, box);
    for (const { choice, option } of offered) {
      const label = element("label", "option", "", box);
      const input = Object.assign(element("input", "", "", label), { type: "checkbox", disabled: Boolean(board.data.locked) });
      input.onchange = () => this.toggle(choice, option);
      element("span", "", `${choice.title}: ${option.title}`, label);
      label.title = option.reason;
    }
  }

  buildOption(group, choice, c, option, o) {
    this.row += 1;
    const label = element("label", "option", "", group);
    const box = Object.assign(element("input", "", "", label), { type: "checkbox" });
    const isDeclared = o === 0;
    box.disabled = isDeclared || Boolean(this.board.data.locked);
    box.onchange = () => this.toggle(choice, option);
    element("span", isDeclared ? "declared" : "", option.title, label);
    if (option.is_uncertain) element("i", "", "asks otherwise", label);
    label.title = option.reason;
    label.onpointerenter = () => write(this.line, option.reason);
    label.onpointerleave = () => this.point(this.pointed);
    const share = element("span", "share", "", group);
    const effect = element("span", `effect${option.is_beyond ? " beyond" : ""}`, option.effect ?? "", group);
    if (option.is_beyond) effect.title = "Beyond chance";
    const strip = element("canvas", "strip", "", group);
    strip.setAttribute("aria-hidden", "true");
    for (const part of [label, share, effect, strip, ...(o ? [] : [group.firstChild])]) {
      part.style.setProperty("--row", String(this.row));
      part.classList.toggle("first", !o);
    }
    this.strips.push({ c, o, box, strip, share, choice, option, label });
  }

  // A choice's setting names the options that differ from the start, at which all but the uncertain ones are on.
  toggled(name) { return this.board.root._view[name].split("+").filter(Boolean); }

  isOn(choice, option) { return this.toggled(choice.name).includes(option.name) === option.is_uncertain; }

  toggle(choice, option) {
    const others = this.toggled(choice.name).filter((name) => name !== option.name);
    this.board.choose(choice.name, (others.length < this.toggled(choice.name).length ? others : [...others, option.name]).join("+"));
  }

  // Return the headline at the handles' positions. After a switch, count the ways until the server sends the new claims.
  headline() {
    const { picture: { sentences, ahead, words }, board: { starts, root, data, handles } } = this;
    if (data.choices.every(({ name }) => root._view[name] === starts[name])) {
      const [level, threshold] = handles;
      const [first, others, detail] = sentences[this.places[level.at * threshold.values.length + threshold.at]];
      write(this.small, detail);
      return [first, others];
    }
    const n_ahead = this.counted.filter((way) => this.state[way] > 0).length;
    return [`${ahead} is ${words[0]} in ${n_ahead} of ${this.counted.length} ways of counting.`, ""];
  }

  // Collect the ways whose options are all switched on, and those of them that count. A drag of a handle does not change them.
  select() {
    const { n, picture: { choices } } = this;
    const text = choices.map(({ name }) => this.board.root._view[name]).join();
    if (text === this.selected) return;
    this.selected = text;
    const isOn = choices.map((choice) => choice.options.map((option) => this.isOn(choice, option)));
    const has = (i, marks) => marks.some((marked, c) => marked[this.options[c * n + i]]);
    const isOtherwise = choices.map((choice) => choice.options.map((option) => option.is_uncertain));
    this.defensible = new Uint8Array(this.n_ways); // the other ways ask slightly otherwise, and are counted apart
    const isOff = isOn.map((marked) => marked.map((on) => !on));
    this.first = new Map(); // way -> its first specification, which is the nearest to the declared one
    this.members = this.strips.map(() => new Uint8Array(this.n_ways));
    for (let i = 0; i < n; i += 1) {
      if (has(i, isOff)) continue;
      const way = this.way[i];
      if (!this.first.has(way)) this.first.set(way, i);
      if (!has(i, isOtherwise)) this.defensible[way] = 1;
      this.strips.forEach(({ c, o }, k) => { if (this.options[c * n + i] === o) this.members[k][way] = 1; });
    }
    const isKnown = (way) => !Number.isNaN(this.estimate[way]);
    this.shown = Int32Array.from(this.first.keys()).filter(isKnown).sort((a, b) => this.estimate[a] - this.estimate[b]);
    this.counted = this.shown.filter((way) => !this.closed[way] && this.defensible[way]);
  }

  // Compute each way's state at the handles' positions: 0 neither, 1 ahead, 2 ahead beyond chance, negative if behind.
  update() {
    this.select();
    const { board: { handles }, estimate, closed, state } = this;
    this.level = handles.find(({ name }) => name === "level").at * this.n_ways;
    this.threshold = handles.find(({ name }) => name !== "level").value / 100;
    this.groups = { 0: [], 1: [], 2: [], "-1": [], "-2": [], [CLOSED]: [] };
    this.shown.forEach((way, place) => {
      const side = Math.sign(Math.round((estimate[way] - this.threshold) * 1e12));
      const isShown = this.low[this.level + way] > this.threshold || this.high[this.level + way] < this.threshold;
      state[way] = closed[way] ? CLOSED : side * (isShown ? 2 : 1);
      this.groups[state[way]].push(place);
    });
    this.write();
    this.draw();
  }

  write() {
    for (const { sign, word, count, beyond } of this.names) {
      const states = this.counted.map((way) => this.state[way] * sign).filter((state) => state > 0);
      write(count, `${word}: ${states.length} of ${this.counted.length}`);
      write(beyond, states.length ? `${states.filter((state) => state === 2).length || "none"} beyond chance` : "");
    }
    this.strips.forEach(({ box, share, choice, option, label }, k) => {
      box.checked = this.isOn(choice, option);
      label.classList.toggle("off", !box.checked);
      const ways = option.is_uncertain ? this.shown.filter((way) => !this.closed[way]) : this.counted;
      const members = ways.filter((way) => this.members[k][way]);
      write(share, members.length ? `${members.filter((way) => this.state[way] > 0).length} of ${members.length}` : MISSING);
    });
    this.plot.setAttribute("aria-valuemax", String(this.shown.length));
    this.point(this.pointed);
  }

  measure() {
    const strip = this.strips[0]?.strip ?? this.plot;
    this.gutter = Math.max(strip.offsetLeft - this.plot.offsetLeft, 0);
    this.widths = [this.plot.clientWidth, strip.clientWidth];
    this.font = getComputedStyle(this.root).fontFamily;
    this.draw();
  }

  // Call `act` with the positions of each state, in its color; states that are not beyond chance are paler.
  eachGroup(context, pale, act) {
    for (const [state, places] of Object.entries(this.groups)) {
      const color = state < 0 ? "behind" : state > 0 && Number(state) !== CLOSED ? "genuine" : "muted";
      context.fillStyle = context.strokeStyle = this.colors[color];
      context.globalAlpha = Math.abs(state) === 2 ? 1 : pale;
      act(places, Number(state));
    }
  }

  draw() {
    if (!this.widths || !this.groups) return;
    const { shown, widths: [, width] } = this;
    this.drawPlot();
    const step = width / Math.max(shown.length, 1);
    const gap = step > 4 ? 1 : 0;
    this.strips.forEach(({ strip }, k) => {
      const context = pen(strip, width, STRIP_PX);
      Object.assign(context, { fillStyle: this.colors.grid, globalAlpha: 0.5 });
      context.fillRect(0, 0, width, STRIP_PX);
      this.eachGroup(context, 0.5, (places, state) => {
        let last = -1;
        for (const place of places) {
          if (!this.members[k][shown[place]]) continue;
          const [left, right] = [Math.round(place * step), Math.max(Math.round((place + 1) * step), Math.round(place * step) + 1)];
          if (right <= last) continue; // many marks share a pixel
          last = right;
          if (state !== CLOSED) context.fillRect(left, 0, right - left - gap, STRIP_PX);
          else context.strokeRect(left + 1.5, 1.5, Math.max(right - left - 4, 1), STRIP_PX - 3);
        }
      });
    });
  }

  drawPlot() {
    const { shown, colors, estimate, gutter, widths: [width], picture: { scale: [low, high], ticks } } = this;
    const context = pen(this.plot, width, PLOT_PX);
    const step = (width - gutter) / Math.max(shown.length, 1);
    const x = (place) => gutter + (place + 0.5) * step;
    const y = (value) => TOP_PX + (PLOT_PX - TOP_PX - 6) * (1 - (Math.min(Math.max(value, low), high) - low) / (high - low));
    const say = (text, left, top, textAlign, weight = "") => {
      Object.assign(context, { font: `${weight} 13px ${this.font}`, textAlign, lineJoin: "round", lineWidth: 4, globalAlpha: 1 });
      Object.assign(context, { strokeStyle: colors.page, fillStyle: colors.text });
      context.strokeText(text, left, top);
      context.fillText(text, left, top);
    };
    const across = (value, color, thick) => {
      Object.assign(context, { globalAlpha: 1, fillStyle: colors[color] });
      context.fillRect(gutter, Math.round(y(value)) - thick / 2, width - gutter, thick);
    };
    Object.assign(context, { globalAlpha: 0.07, fillStyle: colors.behind });
    context.fillRect(gutter, y(this.threshold), width - gutter, PLOT_PX - y(this.threshold));
    for (const [value] of ticks) across(value, "grid", 1);
    const size = Math.min(Math.max(step * 0.42, 0.5), 5.5);
    const thick = size > 2 ? 2 : 1;
    // Skip marks that share a pixel with the previous mark, because neighbors are nearly equal.
    const apart = (places) => places.filter((place, k) => !k || Math.round(x(place)) !== Math.round(x(places[k - 1])));
    this.eachGroup(context, 0.45, (places, state) => {
      if (state === CLOSED) return;
      context.globalAlpha *= 0.8;
      for (const place of apart(places)) {
        if (Number.isNaN(this.low[this.level + shown[place]])) continue;
        const top = Math.round(y(this.high[this.level + shown[place]]));
        context.fillRect(Math.round(x(place)) - thick / 2, top, thick, Math.round(y(this.low[this.level + shown[place]])) - top);
      }
    });
    if (this.picture.unread) this.drawRanges(context, x, y, step);
    this.eachGroup(context, 0.5, (places, state) => {
      context.beginPath();
      for (const place of apart(places)) this.mark(context, x(place), y(estimate[shown[place]]), size, state, !this.defensible[shown[place]]);
      context.lineWidth = 1.5;
      if (state === CLOSED) context.stroke(); else context.fill();
    });
    across(this.threshold, "text", 2);
    const bar = this.board.handles.find(({ name }) => name !== "level");
    if (bar.value) say(`${bar.title} ${bar.text}`, gutter + 4, y(this.threshold) - 6, "left", "bold");
    const place = shown.indexOf(this.way[0]); // the declared specification is the first
    if (place >= 0) {
      const [center, top, radius] = [x(place), y(estimate[this.way[0]]), Math.max(size + 4, 8)];
      Object.assign(context, { globalAlpha: 1, strokeStyle: colors.text, lineWidth: 2.5 });
      context.beginPath();
      context.arc(center, top, radius, -Math.PI / 2, 1.5 * Math.PI);
      if (top - radius > 20) context.lineTo(center, 20);
      context.stroke();
      say(`as declared: ${numberText(100 * estimate[this.way[0]], 1)}${this.picture.unit}`, Math.min(Math.max(center, gutter + 60), width - 58), 14, "center", "bold");
    }
    for (const [value, text] of ticks) {
      if (gutter) say(text, gutter - 8, y(value) + 4, "right");
      // Without a gutter the bar's own text stands in the same place.
      else if (!bar.value || Math.abs(y(value) - y(this.threshold)) > 20) say(text, 2, y(value) - 3, "left");
    }
    if (this.pointed >= 0) {
      Object.assign(context, { globalAlpha: 0.8, strokeStyle: colors.text, lineWidth: 1 });
      context.strokeRect(x(this.pointed) - Math.max(step, 4) / 2, TOP_PX, Math.max(step, 4), PLOT_PX - TOP_PX - 1);
    }
  }

  // Draw a thin line per way from all unread answers against the decision to all for it: beside its mark, with caps, where there is room.
  drawRanges(context, x, y, step) {
    const { shown, closed, lowest, highest } = this;
    const half = step < 16 ? 0 : 3;
    Object.assign(context, { globalAlpha: step < 4 ? 0.25 : 0.6, fillStyle: this.colors.text });
    let last = -1;
    shown.forEach((way, place) => {
      const left = Math.round(x(place)) + (half ? 10 : 0);
      if (left === last || closed[way] || highest[way] - lowest[way] < 1e-9) return;
      last = left;
      const [top, bottom] = [Math.round(y(highest[way])), Math.round(y(lowest[way]))];
      context.fillRect(left, top, 1, bottom - top);
      for (const end of half ? [top, bottom] : []) context.fillRect(left - half, end, 2 * half + 1, 1);
    });
  }

  // Draw a disc if the way is ahead, a triangle if it is behind, an open ring if it may not be claimed, a square if it asks otherwise.
  mark(context, x, y, size, state, isOtherwise) {
    if (isOtherwise && size >= 2) context.rect(x - 0.9 * size, y - 0.9 * size, 1.8 * size, 1.8 * size);
    else if (size < 2) context.rect(Math.round(x - size), Math.round(y) - 1, Math.max(Math.round(2 * size), 1), 3);
    else if (state >= 0) {
      context.moveTo(x + size, y);
      context.arc(x, y, size, 0, 2 * Math.PI);
    } else {
      context.moveTo(x - 1.15 * size, y - size);
      context.lineTo(x + 1.15 * size, y - size);
      context.lineTo(x, y + 1.15 * size);
      context.closePath();
    }
  }

  placeAt(event) {
    const share = (event.offsetX - this.gutter) / Math.max(this.plot.clientWidth - this.gutter, 1);
    return share < 0 ? -1 : Math.min(Math.floor(share * this.shown.length), this.shown.length - 1);
  }

  // Describe the mark under the pointer, below the plot.
  point(place) {
    const isOther = place !== this.pointed;
    this.pointed = Math.min(place, this.shown.length - 1);
    const way = this.shown[this.pointed];
    const text = way === undefined ? this.picture.idle : this.words(way);
    write(this.line, text);
    this.plot.setAttribute("aria-valuenow", String(Math.max(this.pointed, 0) + 1));
    this.plot.setAttribute("aria-valuetext", text);
    if (isOther) this.draw();
  }

  words(way) {
    const { choices, reasons, unit } = this.picture;
    const i = this.first.get(way);
    const others = [];
    choices.forEach((choice, c) => {
      const o = this.options[c * this.n + i];
      if (o) others.push(`${choice.title}: ${choice.options[o].title}`);
    });
    const limits = [this.low, this.high].map((side) => side[this.level + way]);
    const [value, low, high, lowest, highest] = [this.estimate[way], ...limits, this.lowest[way], this.highest[way]]
      .map((x) => numberText(100 * x, 1));
    const state = this.closed[way] ? `not claimed: ${reasons[this.closed[way] - 1]}` : Math.abs(this.state[way]) === 2 ? "beyond chance"
      : "not beyond chance";
    const apart = this.defensible[way] ? "" : ", asks slightly otherwise";
    const unread = this.picture.unread && lowest !== highest ? `; whatever the unread answers are, ${lowest} to ${highest}${unit}` : "";
    return `${others.join("; ") || "As declared"}. ${value}${unit} [${low}, ${high}], ${state}${apart}${unread}.`;
  }

  open(place) {
    if (place < 0) return;
    const i = this.first.get(this.shown[place]);
    const setting = this.picture.choices.map(({ name, options }, c) => `${name}=${options[this.options[c * this.n + i]].name}`);
    this.board.send("opened", setting.join("+"));
  }

  key(event) {
    const last = this.shown.length - 1;
    const moves = { ArrowRight: this.pointed + 1, ArrowLeft: this.pointed - 1, Home: 0, End: last };
    if (event.key in moves) this.point(Math.min(Math.max(moves[event.key], 0), last));
    else if (event.key === "Enter" || event.key === " ") this.open(this.pointed);
    else return;
    event.preventDefault();
  }
}
