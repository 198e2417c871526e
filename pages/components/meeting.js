// A meeting: one socket per tab, which stays open from page to page. It sends the positions of a presenter's boards, and passes received
// positions to the boards of this tab. A follower changes pages like the browser's back button does, by a `popstate` event.
const MEETING = "flipscope-meeting"; // {code, ticket} of this tab, so that it is the same person after a reload
const NAME = "flipscope-name";
const PING_MS = 20000, SILENCE_MS = 50000, LOOK_MS = 150, LONGEST_WAIT_MS = 8000, GESTURE_MS = 4000;

function stored(place, key) {
  try { return place.getItem(key); } catch { return null; }
}

function store(place, key, value) {
  try { if (value === null) place.removeItem(key); else place.setItem(key, value); } catch { /* forgotten at the next reload */ }
}

function link() {
  const page = window.location.pathname.replace(/\/+$/, "").split("/").pop();
  return { page, query: window.location.search.replace(/^\?/, "") };
}

function comparable(query) {
  const pairs = [...new URLSearchParams(query)].filter(([name]) => !["view", "at"].includes(name)); // `at` holds the settings of a board
  return JSON.stringify(pairs.sort((a, b) => (a.join("=") < b.join("=") ? -1 : 1)));
}

// The state that survives a change of the page: the socket, the people, and the latest place and position.
class Meeting {
  constructor(base) {
    Object.assign(this, { base, socket: null, connectTimer: null, nFails: 0, me: null, room: null, place: null, position: null,
      isAway: false, lastLink: "", problem: "", gestureAt: -Infinity, goTimer: null, unsaid: null, changed: () => {} });
    const saved = JSON.parse(stored(window.sessionStorage, MEETING) ?? "null");
    const code = /^#meeting=([A-Za-z0-9-]{4,20})$/.exec(window.location.hash)?.[1];
    if (code && code !== saved?.code) this.join(code);
    else if (saved) { this.me = saved; this.connect(); }
    if (code) window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
    for (const kind of ["pointerdown", "keydown"]) {
      document.addEventListener(kind, (event) => { if (event.isTrusted) this.gestureAt = performance.now(); }, true);
    }
    window.addEventListener("flipscope-board-moved", (event) => this.moved(event.detail));
    window.addEventListener("flipscope-board-drawn", (event) => this.drawn(event.detail));
    window.setInterval(() => this.look(), LOOK_MS);
    window.setInterval(() => this.beat(), PING_MS);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.beat(); });
    window.addEventListener("online", () => this.connect());
  }

  get isPresenter() { return Boolean(this.me && this.room?.presents); }

  get isFollower() { return Boolean(this.me && this.room && !this.room.presents); }

  open(name) { this.me = null; this.connect({ do: "open", name }); }

  join(code, name = "") { this.me = { code, ticket: "" }; this.isAway = false; this.connect({ do: "join", code, name }); }

  connect(hello = null) {
    if (!hello && !this.me) return;
    if (!hello && this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    window.clearTimeout(this.connectTimer);
    this.drop();
    const secure = window.location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${secure}//${window.location.host}${this.base ? `/${this.base}` : ""}/meeting/socket`);
    const first = hello ?? { do: "join", ...this.me, name: stored(window.localStorage, NAME) ?? "" };
    this.socket = socket;
    this.heardAt = performance.now();
    socket.onopen = () => socket.send(JSON.stringify(first));
    socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    socket.onclose = () => this.lost(socket);
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    if (socket) { socket.onclose = null; socket.close(); }
  }

  lost(socket) {
    if (this.socket !== socket) return;
    this.socket = null;
    if (!this.me) { this.changed(); return; }
    this.nFails += 1;
    const wait = Math.min(500 * 2 ** (this.nFails - 1), LONGEST_WAIT_MS) * (0.75 + 0.5 * Math.random());
    this.connectTimer = window.setTimeout(() => this.connect(), wait);
    this.changed();
  }

  beat() {
    if (!this.me) return;
    if (this.socket?.readyState === WebSocket.OPEN) {
      if (performance.now() - this.heardAt > SILENCE_MS) { this.drop(); this.connect(); return; }
      this.say({ do: "ping" });
    } else this.connect();
  }

  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else if (["hand", "end", "ask"].includes(message.do)) { this.unsaid = message; this.connect(); } // a click on a button must not be lost, but a drag may be
  }

  hear(message) {
    this.heardAt = performance.now();
    this.nFails = 0;
    if (message.kind === "entered") {
      this.me = { code: message.code, ticket: message.ticket };
      this.problem = "";
      this.hasBegun = false;
      store(window.sessionStorage, MEETING, JSON.stringify(this.me));
    } else if (message.kind === "room") {
      this.room = message;
      if (this.isPresenter && !this.hasBegun) this.begin();
      this.hasBegun = this.isPresenter;
      if (this.unsaid) { const unsaid = this.unsaid; this.unsaid = null; this.say(unsaid); }
    } else if (message.kind === "place") {
      this.place = message;
      if (this.isFollower && !this.isAway) this.go();
    } else if (message.kind === "position") {
      this.position = message;
      if (!this.isAway && !this.isPresenter) this.showPosition();
      return; // it comes with every frame of a drag, and the bar does not change
    } else if (message.kind === "end") {
      this.end(message.sentence);
    } else if (message.kind === "refusal") {
      this.problem = message.sentence;
    }
    this.changed();
  }

  end(sentence) {
    this.drop();
    window.clearTimeout(this.connectTimer);
    Object.assign(this, { me: null, room: null, place: null, position: null, isAway: false, problem: sentence, unsaid: null });
    store(window.sessionStorage, MEETING, null);
    this.changed();
  }

  // Begin to present: send the page, and let all boards send their positions.
  begin() {
    this.lastLink = "";
    this.isAway = false;
    this.look();
    window.dispatchEvent(new Event("flipscope-board-say"));
  }

  moved(detail) {
    if (this.isPresenter) this.say({ do: "position", ...detail });
    else if (this.isFollower && !this.isAway) { this.isAway = true; this.changed(); }
  }

  drawn(detail) {
    if (this.isPresenter) this.say({ do: "position", board: detail.board, at: detail.at, moving: false });
    else if (this.isFollower && !this.isAway && this.position?.board === detail.board) this.showPosition();
  }

  showPosition() { window.dispatchEvent(new CustomEvent("flipscope-board-follow", { detail: this.position })); }

  // Look at the link, which names page and view. If it changes after a click or a key, the follower has gone elsewhere. If the page
  // itself completes its link, the follower has not.
  look() {
    if (!this.room) return;
    const current = link(), text = JSON.stringify(current);
    if (text === this.lastLink) return;
    const first = this.lastLink === "";
    this.lastLink = text;
    if (first && !this.isPresenter) return;
    if (this.isPresenter) { this.say({ do: "place", ...current }); return; }
    const since = performance.now() - this.gestureAt;
    if (!this.isAway && this.place && since < GESTURE_MS && this.gestureAt > (this.wentAt ?? -Infinity) && !this.isThere()) {
      this.isAway = true;
      this.changed();
    }
  }

  isThere() {
    const here = link();
    return here.page === this.place.page && comparable(here.query) === comparable(this.place.query);
  }

  go() {
    if (!this.place || this.isThere()) return;
    window.clearTimeout(this.goTimer);
    this.wentAt = performance.now(); // an earlier click was no wish to look elsewhere
    this.goTimer = window.setTimeout(() => {
      if (this.isAway || !this.place || this.isThere()) return;
      const view = new URLSearchParams(window.location.search).get("view");
      const query = new URLSearchParams(this.place.query);
      if (view) query.set("view", view);
      const path = `${this.base ? `/${this.base}` : ""}/${this.place.page}${query.size ? `?${query}` : ""}`;
      window.history.pushState(window.history.state, "", path);
      window.dispatchEvent(new PopStateEvent("popstate", { state: window.history.state }));
      this.lastLink = JSON.stringify(link());
    }, LOOK_MS);
  }

  back() {
    this.isAway = false;
    this.go();
    if (this.position) this.showPosition();
    this.changed();
  }
}

function element(name, text, parent, settings = {}) {
  const node = Object.assign(document.createElement(name), settings);
  node.textContent = text;
  parent.appendChild(node);
  return node;
}

function button(text, parent, act, className = "") {
  return element("button", text, parent, { type: "button", onclick: act, className });
}

function spaced(code) { return `${code.slice(0, 4)}-${code.slice(4)}`; }

export default function (component) {
  const { data, parentElement } = component;
  const meeting = window.flipscopeMeeting ?? (window.flipscopeMeeting = new Meeting(data.base));
  const root = parentElement.querySelector(".meeting");
  const opener = root.querySelector(".open");
  const line = root.querySelector(".line");
  const panel = root.querySelector(".panel");
  const back = root.querySelector(".back");

  function sentence() {
    const { room, socket } = meeting;
    if (!room) return "Connecting …";
    if (socket?.readyState !== WebSocket.OPEN) return "Connection lost; trying again …";
    const n = room.n_followers;
    if (room.presents) return `Presenting · ${spaced(meeting.me.code)} · ${n} follower${n === 1 ? "" : "s"}`;
    if (!room.presenter_is_here) return `Waiting for ${room.presenter}`;
    return meeting.isAway ? `You look elsewhere; ${room.presenter} presents` : `Following ${room.presenter}`;
  }

  function addNameField(parent) {
    const label = element("label", "Name that others see", parent);
    const input = element("input", "", label, { maxLength: 40, value: stored(window.localStorage, NAME) ?? "" });
    input.oninput = () => store(window.localStorage, NAME, input.value.trim() || null);
    return input;
  }

  function drawEntry() {
    const name = addNameField(panel);
    element("p", "Others see this page, and its threshold while you drag it.", panel, { className: "quiet" });
    button("Present this page", panel, () => meeting.open(name.value), "main");
    const row = element("div", "", panel, { className: "row" });
    const code = element("input", "", row, { placeholder: "Code of a meeting", maxLength: 20 });
    code.setAttribute("aria-label", "Code of a meeting");
    const join = () => { if (code.value.trim()) meeting.join(code.value, name.value); };
    code.onkeydown = (event) => { if (event.key === "Enter") join(); };
    button("Join", row, join);
  }

  function drawPresenting() {
    const { room, me } = meeting;
    element("p", "Others type this code under Present, or open the link:", panel);
    element("div", spaced(me.code), panel, { className: "code" });
    const address = `${window.location.origin}/${data.base ? `${data.base}/` : ""}#meeting=${me.code}`;
    element("p", address, panel, { className: "quiet" });
    if (["localhost", "127.0.0.1"].includes(window.location.hostname)) {
      element("p", "The link works on this computer only: the dashboard was opened as localhost.", panel, { className: "quiet" });
    }
    for (const person of room.asking) {
      const row = element("div", "", panel, { className: "row" });
      element("span", `${person.title} asks to present`, row);
      button("Hand on", row, () => meeting.say({ do: "hand", to: person.number }), "main");
    }
    const row = element("div", "", panel, { className: "row" });
    button("Copy link", row, (event) => {
      navigator.clipboard?.writeText(address).then(() => { event.target.textContent = "Copied"; });
    });
    button("End the meeting", row, () => meeting.say({ do: "end" }));
  }

  function drawFollowing() {
    const { room } = meeting;
    const name = addNameField(panel);
    element("p", room?.asks ? `${room.presenter} was told that you would like to present.` : "", panel, { className: "quiet" });
    const row = element("div", "", panel, { className: "row" });
    button("Ask to present", row, () => meeting.say({ do: "ask", name: name.value }));
    button("Leave the meeting", row, () => meeting.end(""));
  }

  function addProjectorButton(parent) {
    button(data.projector ? "Leave projector view" : "Projector view", parent, () => {
      const query = new URLSearchParams(window.location.search);
      query.set("view", data.projector ? "screen" : "projector");
      window.history.pushState(window.history.state, "", `${window.location.pathname}?${query}`);
      window.dispatchEvent(new PopStateEvent("popstate", { state: window.history.state }));
      panel.hidden = true;
    });
  }

  function paint() {
    const inside = Boolean(meeting.me);
    root.dataset.role = meeting.isPresenter ? "presenter" : inside ? "follower" : "none";
    line.hidden = !inside;
    back.hidden = !(meeting.isFollower && meeting.isAway);
    opener.textContent = inside ? "Meeting" : "Present";
    if (meeting.isPresenter && meeting.room.asking.length) opener.textContent = `Meeting (${meeting.room.asking.length} asks)`;
    root.querySelector(".text").textContent = inside ? sentence() : "";
    root.querySelector(".dot").dataset.state = !inside || meeting.socket?.readyState !== WebSocket.OPEN ? "lost"
      : meeting.isAway ? "away" : "live";
    opener.setAttribute("aria-expanded", String(!panel.hidden));
    if (panel.hidden && !meeting.problem) { panel.replaceChildren(); return; }
    if (panel.contains(root.getRootNode().activeElement) && root.getRootNode().activeElement.tagName === "INPUT"
      && panel.dataset.role === root.dataset.role) return; // somebody is typing here
    panel.dataset.role = root.dataset.role;
    panel.replaceChildren();
    if (meeting.problem) { panel.hidden = false; element("p", meeting.problem, panel, { className: "problem" }); }
    if (meeting.isPresenter) drawPresenting(); else if (inside) drawFollowing(); else drawEntry();
    addProjectorButton(panel);
  }

  opener.onclick = () => { panel.hidden = !panel.hidden; meeting.problem = ""; paint(); };
  back.onclick = () => meeting.back();
  root.onkeydown = (event) => { if (event.key === "Escape") { panel.hidden = true; meeting.problem = ""; paint(); } };
  meeting.changed = paint;
  paint();
  return () => { if (meeting.changed === paint) meeting.changed = () => {}; };
}
