// What a board does without asking Python, in the page and in a notebook: a cursor for the keyboard, the stone under the
// pointer, motion that goes on when the board is drawn again, sounds, and lines of moves on hover.
// root: what holds one `.stage` with a board's SVG, and perhaps rows with `data-hover`; or the document.
// name: the selector of the stage.
const boardSounds = {
  speaker: null,
  here: null, // "on" or "off" until the page is left, where the browser keeps nothing more
  get on() {
    try { return (this.here ?? localStorage.getItem("sounds")) === "on"; } catch { return false; }
  },
  toggle() {
    const wanted = this.on ? "off" : "on";
    this.here = null;
    try { localStorage.setItem("sounds", wanted); } catch { this.here = wanted; }
    this.show();
    if (this.on) this.play("stone");
  },
  show() { // the switches: which icon is seen is the style sheet's
    for (const b of document.querySelectorAll(".sounds")) b.setAttribute("aria-pressed", this.on);
  },
  tone(hertz, wait, seconds, type) {
    const at = this.speaker.currentTime + wait, one = this.speaker.createOscillator(), loud = this.speaker.createGain();
    one.type = type;
    one.frequency.setValueAtTime(hertz, at);
    if (type === "triangle") one.frequency.exponentialRampToValueAtTime(hertz / 3, at + seconds);
    loud.gain.setValueAtTime(.3, at);
    loud.gain.exponentialRampToValueAtTime(.001, at + seconds);
    one.connect(loud).connect(this.speaker.destination);
    one.start(at);
    one.stop(at + seconds);
  },
  play(kind) {
    if (!this.on) return;
    this.speaker = this.speaker || new AudioContext();
    this.speaker.resume();
    if (kind === "low") return [0, .18, .36].forEach((wait) => this.tone(1047, wait, .1, "sine"));
    this.tone(660, 0, .08, "triangle");
    if (kind === "capture") this.tone(440, .07, .1, "triangle");
    if (kind === "end") [392, 494, 587].forEach((hertz, i) => this.tone(hertz, .15 + .13 * i, .6, "sine"));
  },
};

function liveBoard(root, name = ".stage") {
  const stage = () => root.querySelector(name);

  function show(action) {
    for (const g of root.querySelectorAll(`${name} .line`))
      g.setAttribute("visibility", g.dataset.line === action ? "visible" : "hidden");
    const shown = [...root.querySelectorAll(`${name} .line`)].some((g) => g.dataset.line === action);
    for (const g of root.querySelectorAll(`${name} .mark`)) g.setAttribute("opacity", shown ? "0" : "1");
  }
  root.addEventListener("mousemove", (e) => {
    if (!e.movementX && !e.movementY) return; // a board that is drawn anew under a mouse at rest
    const row = e.target.closest && e.target.closest("[data-hover]");
    const overlaid = root.querySelector(`${name} .mark, ${name} .line[visibility=visible]`);
    const point = !row && overlaid && e.target.closest && e.target.closest(`${name} [data-action]`);
    show(row ? row.dataset.hover : point ? point.dataset.action : null);
  });
  root.addEventListener("focusin", (e) => {
    const over = e.target.closest && e.target.closest("[data-hover]");
    if (over) show(over.dataset.hover);
  });

  let held = null; // [element, selector] of the move or row with the focus: it is drawn anew under the hand
  root.addEventListener("focusin", (e) => {
    const one = e.target.closest && e.target.closest("button[data-ply], tr[data-hover]:not([data-hover=''])");
    const named = one && ["ply", "hover"].find((key) => one.dataset[key] !== undefined);
    held = one ? [one, `${one.localName}[data-${named}="${CSS.escape(one.dataset[named])}"]`] : null;
  });
  root.addEventListener("focusout", () => setTimeout(() => {
    if (held && held[0].isConnected && document.activeElement !== held[0]) held = null;
  }));
  new MutationObserver(() => {
    if (!held || held[0].isConnected || ![null, document.body].includes(document.activeElement)) return;
    const again = root.querySelector(held[1]);
    if (again) again.focus();
  }).observe(root, { childList: true, subtree: true });

  let at = null; // index of the point under the keyboard's cursor
  const points = () => [...root.querySelectorAll(`${name} .point`)];
  function cursor() {
    for (const p of points()) p.classList.remove("cursor");
    const p = points()[at];
    if (p && document.activeElement === stage()) p.classList.add("cursor");
    ghost();
  }
  let voice = null; // what a screen reader says of the point under the cursor; there before it says anything
  root.addEventListener("focusin", () => {
    if (voice || !stage()) return;
    voice = Object.assign(document.createElement("div"), { className: "voice cursor-voice" });
    voice.setAttribute("aria-live", "polite");
    stage().after(voice);
  });
  function say() {
    const p = points()[at], words = JSON.parse(stage().querySelector("svg").dataset.words ?? "{}");
    if (p && voice) voice.textContent = [p.dataset.name, words[p.dataset.side ?? 0]].filter(Boolean).join(", ");
  }
  new MutationObserver(() => { motion(); cursor(); boardSounds.show(); })
    .observe(root, { childList: true, subtree: true });
  root.addEventListener("focusin", cursor);
  root.addEventListener("focusout", () => setTimeout(cursor));

  function ghost() { // the stone of the side to move, where the pointer or the cursor would put it
    const shape = root.querySelector(`${name} .ghost`);
    if (!shape) return;
    const over = root.querySelector(`${name} .point:hover`) || root.querySelector(`${name} .point.cursor`);
    const to = over && root.querySelector(`${name} .point.free[data-action="${over.dataset.action}"]`);
    shape.setAttribute("visibility", to ? "visible" : "hidden");
    if (to) shape.setAttribute("transform", `translate(${+to.getAttribute("x") + 20} ${+to.getAttribute("y") + 20})`);
  }
  root.addEventListener("mousemove", ghost);
  root.addEventListener("mouseout", ghost);

  let seen = null, begun = 0, newest = null, before = null; // newest, before: stones on their way, and when they began
  const place = (e) => ["cx", "cy", "d"].map((key) => e.getAttribute(key)).join();
  function motion() {
    const svg = root.querySelector(`${name} svg`), now = performance.now();
    if (!svg || svg === drawn) return;
    drawn = svg;
    if (svg.dataset.at !== seen) {
      const first = seen === null, stone = svg.querySelector(".new, .drop");
      [seen, before, begun] = [svg.dataset.at, newest, now];
      if (at !== null && document.activeElement === stage()) say(); // what the move put there
      newest = stone && { place: place(stone), kind: stone.classList.contains("drop") ? "drop" : "new",
        fall: stone.style.getPropertyValue("--fall"), begun };
      if (!first && stone)
        boardSounds.play("over" in svg.dataset ? "end" : svg.querySelector(".gone, .was") ? "capture" : "stone");
    }
    svg.style.setProperty("--since", `${begun - now}ms`);
    if (!before || now - before.begun > 500) return;
    const other = [...svg.querySelectorAll(".side > .stone")].find((e) => place(e) === before.place);
    if (!other || other.matches(".new, .drop, .turned")) return;
    other.classList.add(before.kind);
    other.style.setProperty("--fall", before.fall);
    other.style.setProperty("--since", `${before.begun - now}ms`);
  }
  let drawn = null; // the drawing that was looked at

  root.addEventListener("keydown", (e) => {
    if (e.target !== stage() || e.ctrlKey || e.altKey || e.metaKey) return;
    const all = points();
    if (!all.length) return;
    const columns = all.filter((p) => p.getAttribute("y") === all[0].getAttribute("y")).length;
    const rows = all.length / columns;
    if (at === null || at >= all.length) {
      at = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
      if (!e.key.startsWith("Arrow") && e.key !== "Enter" && e.key !== " ") { at = null; return; }
      e.preventDefault();
      e.stopPropagation();
      cursor();
      say();
      return;
    }
    if (e.key === "ArrowLeft") at -= at % columns ? 1 : 0;
    else if (e.key === "ArrowRight") at += at % columns < columns - 1 ? 1 : 0;
    else if (e.key === "ArrowUp") at -= at >= columns ? columns : 0;
    else if (e.key === "ArrowDown") at += at < all.length - columns ? columns : 0;
    const plays = e.key === "Enter" || e.key === " ";
    if (plays) all[at].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    else if (!e.key.startsWith("Arrow")) return;
    e.preventDefault();
    e.stopPropagation();
    cursor();
    if (!plays) say();
  }, true);
}
