// People judge one pair at a time with the keyboard. A verdict shows at once and waits in an outbox until Python acknowledges that it
// is stored. Waiting verdicts are sent again and survive a reload of the page.
const WORDS = { y: "yes", n: "no", u: "unsure" };
const TAGS = { same: "span", new: "ins", gone: "del" };
const SCROLLS = { " ": 1, pagedown: 1, pageup: -1 };
const RESEND_MS = 4000, SILENCE_MS = 7000;

function element(name, kind, text, parent) {
  const child = document.createElement(name);
  if (kind) child.className = kind;
  if (text) child.textContent = text;
  parent?.appendChild(child);
  return child;
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".review");
  const part = (name) => root.querySelector(`.${name}`);
  const note = root.querySelector("textarea");
  const checks = data.checks.map(([name]) => name);
  const place = `flipscope-review|${data.reviewer}`;
  const blank = { outbox: stored(), judged: {}, returned: [], said: {}, at: 0, open: null, times: [], since: Date.now() };
  if (root._state?.place !== place) root._state = { place, ...blank };
  const state = root._state;

  function stored() {
    try { return JSON.parse(sessionStorage.getItem(place)) ?? []; } catch { return []; }
  }

  function keep() {
    try { sessionStorage.setItem(place, JSON.stringify(state.outbox)); } catch { /* the outbox still lives in the page */ }
  }

  function send() {
    keep();
    if (state.outbox.length) setStateValue("outbox", { sent: Date.now(), messages: state.outbox });
  }

  const done = new Set(data.acknowledged);
  state.outbox = state.outbox.filter((message) => !done.has(message.id));
  state.heard = Date.now(); // this function runs only when the server has sent data
  keep();

  function isSilent() { return state.outbox.length > 0 && Date.now() - state.heard > SILENCE_MS; }

  function current() {
    const returned = state.returned.at(-1);
    return returned ?? data.pairs.find((pair) => !state.judged[pair.id]) ?? null;
  }

  function last() {
    const latest = Object.values(state.judged).filter((verdict) => verdict).sort((a, b) => a.time - b.time).at(-1);
    return latest ?? data.history.findLast((verdict) => !(verdict.pair.id in state.judged)) ?? null;
  }

  function judge() {
    const pair = current();
    const message = { id: newId(), kind: "verdict", pair_id: pair.id, said: { ...state.said }, note: note.value };
    state.judged[pair.id] = { pair, time: Date.now(), verdict_id: message.id, said: message.said };
    state.returned = state.returned.filter((other) => other.id !== pair.id);
    state.times = [...state.times, Date.now() - state.since].slice(-15);
    state.outbox.push(message);
    next();
    send();
  }

  function undo() {
    const before = last();
    if (!before) return;
    state.judged[before.pair.id] = null;
    state.returned.push(before.pair);
    state.outbox.push({ id: newId(), kind: "undo", pair_id: before.pair.id, undoes: before.verdict_id });
    next();
    send();
  }

  function next() {
    Object.assign(state, { said: {}, at: 0, open: null, since: Date.now() });
    note.value = "";
    note.blur();
    paint();
  }

  function say(word) {
    if (!current()) return;
    state.said[checks[state.at]] = word;
    const left = checks.findIndex((check) => !state.said[check]);
    if (left < 0) judge();
    else { state.at = left; paint(); }
  }

  function runs(box, pieces) {
    box.replaceChildren(...pieces.map(([kind, text]) => element(TAGS[kind], "", text)));
    box.scrollTop = 0;
  }

  function paint() {
    const pair = current();
    root.classList.toggle("empty", !pair);
    part("finished").textContent = pair ? "" : data.n_left <= state.outbox.length ? data.finished : isSilent()
      ? "The server does not answer. Your verdicts are kept in this window; leave it open." : "One moment …";
    if (pair) paintPair(pair);
    paintLine();
  }

  function paintPair(pair) {
    if (root._shown !== pair.id) {
      runs(part("original"), pair.original);
      runs(part("paraphrase"), pair.paraphrase);
      root._shown = pair.id;
      root.dataset.pair = pair.id;
      root.dataset.size = pair.size;
    }
    const options = part("options");
    options.replaceChildren(...pair.options.map((text) =>
      element("span", state.open === pair.id && text === pair.answer ? "right" : "", text)));
    part("hidden").textContent = state.open === pair.id ? `Right answer: ${pair.answer}` : "Right answer (A shows it)";
    part("hidden").hidden = pair.answer === null;
    checks.forEach((check, i) => {
      const row = part("checks").children[i];
      row.classList.toggle("asked", i === state.at);
      for (const button of row.querySelectorAll("button")) {
        button.classList.toggle("chosen", state.said[check] === button.value);
        button.setAttribute("aria-pressed", String(state.said[check] === button.value));
      }
    });
  }

  function paintLine() {
    const waiting = state.outbox.filter((message) => message.kind === "verdict").length;
    const back = state.outbox.length - waiting;
    const n_done = data.n_done + waiting - back;
    const n_left = Math.max(data.n_left - waiting + back, 0);
    part("bar").style.width = `${(100 * n_done) / Math.max(n_done + n_left, 1)}%`;
    const pace = state.times.length > 2 ? [...state.times].sort((a, b) => a - b)[state.times.length >> 1] / 1000 : 0;
    const minutes = (pace * n_left) / 60;
    const counts = [`${numberText(n_done, 0)} judged`, `${numberText(n_left, 0)} left`];
    if (pace && n_left) counts.push(`${numberText(pace, pace < 10 ? 1 : 0)} s a pair`, minutes < 1 ? "under a minute to go"
      : `about ${numberText(minutes, 0)} min to go`);
    part("count").textContent = counts.join(" · ");
    const kept = isSilent() ? "kept here until the server answers" : "not stored yet";
    part("saved").textContent = state.outbox.length ? `${numberText(state.outbox.length, 0)} ${kept}` : "all stored";
    const before = last();
    part("before").textContent = before
      ? `Last one: ${checks.map((check) => before.said[check] ?? "–").join(", ")}. Z takes it back.` : "";
  }

  function build() {
    part("who").textContent = data.reviewer;
    part("checks").replaceChildren(...data.checks.map(([name, question], i) => {
      const row = element("div", "check");
      element("span", "question", question, row);
      for (const [letter, word] of Object.entries(WORDS)) {
        const button = element("button", word, "", row);
        button.type = "button";
        button.value = word;
        element("kbd", "", letter.toUpperCase(), button);
        button.append(` ${word}`);
        button.onclick = () => { state.at = i; say(word); };
      }
      return row;
    }));
  }

  function key(event) {
    const target = event.composedPath()[0];
    if (target === note) {
      if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey)) { event.preventDefault(); note.blur(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.isContentEditable
        || /^(input|textarea|select)$/i.test(target.tagName ?? "") || !root.isConnected || !root.getClientRects().length) return;
    const letter = event.key.toLowerCase();
    if (letter in SCROLLS && root.dataset.size === "long" && target.tagName !== "BUTTON") {
      event.preventDefault();
      for (const box of root.querySelectorAll(".text")) box.scrollBy(0, SCROLLS[letter] * 0.8 * box.clientHeight);
      return;
    }
    const actions = {
      z: undo, backspace: undo, m: () => note.focus(), f: fullscreen,
      a: () => { const pair = current(); state.open = state.open === pair?.id ? null : pair?.id; paint(); },
      arrowup: () => { state.at = Math.max(state.at - 1, 0); paint(); },
      arrowdown: () => { state.at = Math.min(state.at + 1, checks.length - 1); paint(); },
    };
    if (event.repeat || !(letter in WORDS || letter in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    if (letter in WORDS) say(WORDS[letter]);
    else actions[letter]();
  }

  function fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else root.requestFullscreen?.().catch(() => {});
  }

  root.style.setProperty("--genuine", data.colours.genuine);
  build();
  paint();
  root.dataset.painted = String(performance.now());
  const again = setInterval(() => { send(); if (current()) paintLine(); else paint(); }, RESEND_MS);
  document.addEventListener("keydown", key, true);
  const leave = onlyLast(root, () => { document.removeEventListener("keydown", key, true); clearInterval(again); });
  if (state.outbox.length && !root._resent) { root._resent = true; send(); }
  return leave;
}
