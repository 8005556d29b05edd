// What the view of a game does without asking Python: tap and confirm, clocks that count, words on hover, sharing.

// Small points are confirmed by a second tap: the first one shows a ghost of the stone.
const SMALL = 28; // CSS pixels
let ghost = null; // {at, action, point} of the first tap
function confirmed(e, target) {
  const finger = e.pointerType ? e.pointerType !== "mouse" : e.detail && matchMedia("(pointer: coarse)").matches;
  const board = target.closest("[data-at]"), { action } = target.dataset;
  const free = board.querySelector(`.point.free[data-action="${action}"]`); // where the stone will be
  if (!finger || !free || "waits" in board.dataset || target.getBoundingClientRect().width >= SMALL) return true;
  const { at } = board.dataset, { point } = free.dataset;
  const again = ghost !== null && ghost.at === at && ghost.action === action;
  ghost = again ? null : { at, action, point };
  drawGhost();
  return again;
}
function drawGhost() {
  document.querySelectorAll(".tap-ghost").forEach((old) => old.remove());
  const board = ghost && document.querySelector(`.stage [data-at="${ghost.at}"]`);
  const point = board && board.querySelector(`[data-point="${ghost.point}"]`);
  if (!point) { ghost = null; return; }
  const size = +point.getAttribute("width"), stone = document.createElementNS(board.namespaceURI, "circle");
  const place = { cx: +point.getAttribute("x") + size / 2, cy: +point.getAttribute("y") + size / 2, r: 0.43 * size };
  for (const [name, value] of Object.entries(place)) stone.setAttribute(name, value);
  stone.classList.add("tap-ghost");
  stone.style.fill = board.dataset.turn;
  board.querySelector(".point").before(stone);
}

// A click on the board leaves the keyboard to the page: the arrows walk through the game until Tab reaches the board.
document.addEventListener("mousedown", (e) => {
  const stage = e.target.closest(".stage");
  if (!stage || stage === document.activeElement) return;
  e.preventDefault();
  document.activeElement?.blur();
});

// Plies to walk for a turn of the mouse wheel over the board, in Analyse; the small turns of a touchpad add up.
const NOTCH = 50; // CSS pixels
let turnedBy = 0;
function turned(e) {
  if (e.ctrlKey || !document.querySelector(".stage [data-walks]")) return 0;
  e.preventDefault();
  const by = e.deltaMode ? NOTCH * Math.sign(e.deltaY) : e.deltaY;
  turnedBy = by * turnedBy > 0 ? turnedBy + by : by;
  if (Math.abs(turnedBy) < NOTCH) return 0;
  const plies = Math.sign(turnedBy);
  turnedBy = 0;
  return plies;
}

// Scrolls the list of moves to the position that is shown.
function followGame() {
  for (const list of document.querySelectorAll(".moves")) {
    const here = list.querySelector(".here");
    if (!here || list.followed === here) continue;
    list.followed = here;
    const top = here.offsetTop - list.offsetTop, bottom = top + here.offsetHeight, height = list.clientHeight;
    if (top < list.scrollTop || bottom > list.scrollTop + height) list.scrollTop = top - height / 2;
  }
}

// In Quasar's drop-down lists an element that can have the focus hides the options from screen readers.
function freeOptions() {
  const between = document.querySelectorAll(".q-menu .q-virtual-scroll__content[tabindex]");
  for (const part of between) part.removeAttribute("tabindex");
}

new MutationObserver(() => {
  if (ghost && !document.querySelector(".tap-ghost")) drawGhost(); // the board is drawn anew under the hand
  followGame();
  freeOptions();
}).observe(document, { childList: true, subtree: true });

const warned = {}; // {side: whether the sound of little time was heard}
setInterval(() => {
  for (const clock of document.querySelectorAll(".clock[data-left]")) {
    if (clock.seen !== clock.dataset.stamp + clock.dataset.left) {
      clock.seen = clock.dataset.stamp + clock.dataset.left;
      clock.since = performance.now();
    }
    const spent = clock.dataset.runs ? (performance.now() - clock.since) / 1000 : 0;
    const left = Math.max(0, clock.dataset.left - spent);
    const minutes = `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
    const low = left < 10; // LOW of clock.py
    const text = low ? (Math.floor(10 * left) / 10).toFixed(1) : minutes;
    if (clock.textContent !== text) clock.textContent = text;
    clock.classList.toggle("low", low);
    if (low && clock.dataset.person && !warned[clock.dataset.side]) boardSounds.play("low");
    warned[clock.dataset.side] = low;
  }
}, 100);

// The words of what has `data-word`, under the pointer or with the focus; Escape takes them away.
function hideWord() {
  const bubble = document.getElementById("word");
  if (bubble) bubble.hidden = true;
}
function showWord(e) {
  const one = e.target.closest && e.target.closest("[data-word]");
  if (!one) return hideWord();
  let bubble = document.getElementById("word");
  if (!bubble) {
    bubble = Object.assign(document.createElement("div"), { id: "word" });
    bubble.setAttribute("role", "tooltip");
    document.body.append(bubble);
  }
  bubble.textContent = one.dataset.word;
  bubble.hidden = false;
  const at = one.getBoundingClientRect(), wide = document.documentElement.clientWidth;
  bubble.style.left = `${Math.max(8, Math.min(at.left, wide - bubble.offsetWidth - 8))}px`;
  bubble.style.top = `${at.bottom + 6}px`;
}
for (const kind of ["mouseover", "focusin"]) addEventListener(kind, showWord, true);
for (const kind of ["focusout", "scroll"]) addEventListener(kind, hideWord, true);
addEventListener("keydown", (e) => { if (e.key === "Escape") hideWord(); }, true);

// ? opens the list of keys, unless it is typed into a field.
addEventListener("keydown", (e) => {
  if (e.key === "?" && !e.target.closest("input, textarea, select")) document.querySelector(".list-keys")?.click();
});

// The person's own games in localStorage, newest first: [{number, file, seats}], see own_games.py.
const ownGames = {
  text(largest) {
    const text = localStorage.getItem("mine") ?? "";
    return text.length <= largest ? text : "";
  },
  all() {
    try {
      const found = JSON.parse(this.text(Infinity));
      return Array.isArray(found) ? found.filter((one) => one && typeof one === "object") : [];
    } catch { return []; }
  },
  // before: the file that this tab kept last. If another tab has moved in the same game since, both lines are kept.
  keep(game, before, most, largest) {
    const name = `mine:${game.number}`;
    game.number = sessionStorage.getItem(name) ?? game.number;
    const kept = this.all().find((one) => one.number === game.number);
    if (kept && kept.file !== before && !continues(kept.file, game.file)) {
      game.number = Array.from({ length: 8 }, () => Math.floor(16 * Math.random()).toString(16)).join("");
      sessionStorage.setItem(name, game.number);
    }
    const games = [game, ...this.all().filter((one) => one.number !== game.number)].slice(0, most);
    while (JSON.stringify(games).length > largest) games.pop();
    this.put(games);
  },
  forget() { this.put([]); },
  put(games) {
    try { localStorage.setItem("mine", JSON.stringify(games)); } catch { /* no room: nothing is kept */ }
  },
};

function continues(old, file) { // whether a file holds all moves of an older one, and its result
  try {
    const was = JSON.parse(old), is = JSON.parse(file);
    return [null, is.result].includes(was.result) && was.moves.every((move, i) => move === is.moves[i]);
  } catch { return true; }
}

// What is solved in Puzzles, {game: {number: kind}}, see puzzles_tab.py; the better kind, which is smaller, counts.
function keepSolved(name, largest, game, number, kind) {
  let games = {};
  try {
    const text = localStorage.getItem(name) ?? "";
    games = (text.length <= largest && JSON.parse(text)) || {};
  } catch { /* nothing is kept, or none of ours */ }
  const solved = { ...games[game] };
  solved[number] = Math.min(kind, Number(solved[number]) || kind);
  localStorage.setItem(name, JSON.stringify({ ...games, [game]: solved }));
}

// A link without the token, or an image, into the clipboard; an image into a file where there is no clipboard.
async function sharePosition(kind, done) {
  try {
    if (kind === "link" && !Object.keys(shared()).length) return done("setup");
    if (kind === "link") return done((await copyText(linkHere())) ? "link" : "failed");
    const image = boardImage();
    if (kind === "image" && navigator.clipboard && window.ClipboardItem) {
      try {
        await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
        return done("image");
      } catch { /* not allowed: as a file */ }
    }
    const file = Object.assign(document.createElement("a"), { download: "position.png" });
    file.href = URL.createObjectURL(await image);
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 10000);
    done("file");
  } catch (error) {
    console.warn(error);
    done("failed");
  }
}
function shared() {
  return JSON.parse(document.querySelector(".stage svg").dataset.share);
}
function linkHere() {
  const link = new URL(location.origin + location.pathname);
  for (const [name, value] of Object.entries(shared())) if (value) link.searchParams.set(name, value);
  return link.href;
}
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const box = Object.assign(document.createElement("textarea"), { value: text }); // over http from elsewhere
  document.body.append(box);
  box.select();
  const copied = document.execCommand("copy");
  box.remove();
  return copied;
}
async function boardImage() {
  const shown = document.querySelector(".stage svg"), copy = shown.cloneNode(true);
  const parts = [...copy.querySelectorAll("*")], whole = getComputedStyle(shown);
  [...shown.querySelectorAll("*")].forEach((part, i) => { // an image has no style sheet
    const style = getComputedStyle(part);
    for (const name of ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "opacity", "visibility"])
      parts[i].style.setProperty(name, style.getPropertyValue(name));
  });
  copy.querySelectorAll(".point, .line, .tap-ghost").forEach((part) => part.remove());
  const { width, height } = shown.viewBox.baseVal, scale = Math.max(1, 1000 / Math.max(width, height));
  copy.setAttribute("width", width * scale);
  copy.setAttribute("height", height * scale);
  copy.style.color = whole.color;
  const picture = new Image();
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * scale, height: height * scale });
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0);
  return new Promise((drawn, failed) => canvas.toBlob((blob) => (blob ? drawn(blob) : failed("no image")), "image/png"));
}
