// The page: header, board with its two players, tools, panel, dialogs; drawn again from what is on the table.

function dot(one) {
  const found = h("span.side-dot", { "aria-hidden": "true" });
  if (drawing.look === "marks") {
    found.textContent = sideName(one);
    found.style.color = drawing.colours[one][0];
    found.classList.add("mark");
  } else {
    found.style.background = drawing.colours[one][0];
    found.style.borderColor = drawing.colours[one][1];
  }
  return found;
}

// ---- the frame

const stage = h("div.stage", { tabindex: 0, role: "application" });
const strips = { top: h("div.strip"), bottom: h("div.strip") };
const bar = h("div.eval", { role: "img" }, h("div"));
const status = h("p.status", { role: "status" });
const others = h("div.others"),
  tools = h("div.tools", { role: "toolbar" }),
  panel = h("div.panel"),
  extra = h("div.panel.extra"),
  ended = h("div.ended", { hidden: true }); // how the game ended, on the board
const titleLine = h("h1"),
  home = facts.server ? h("a.button.bare.home", { href: "/" }, icon("home")) : null,
  elsewhere = facts.server ? h("nav.elsewhere") : null,
  nav = h("nav.views");
const menuButton = h("button.button.bare", { type: "button", onclick: openMenu }, icon("menu"));
const sayings = h("div.voice", { "aria-live": "polite" });

document.body.append(
  h("header.masthead", {}, ...[home, titleLine, elsewhere, nav, menuButton].filter(Boolean)),
  h(
    "main",
    {},
    h("div.board-side", {}, strips.top, h("div.stand", {}, bar, stage, ended), strips.bottom, status, others, tools),
    panel,
    extra,
  ),
  sayings,
);
document.documentElement.style.setProperty("--ratio", drawing.width / drawing.height);
document.documentElement.style.setProperty(
  "--tall",
  (facts.look === "hexagons" ? drawing.height : 40 * rows + 2) / drawing.width,
);
const hasOtherMoves = pointOfAction(facts.actionSize - 1) < 0; // such as a pass
if (hasOtherMoves) document.documentElement.style.setProperty("--rest", "286px"); // their buttons' row
bar.classList.add(drawing.look);

function frame() {
  // what changes with the language only
  document.documentElement.lang = language;
  titleLine.textContent = gameName(facts);
  document.title = inLanguage(facts.title);
  stage.setAttribute("aria-label", tr("board: arrows move, Enter plays"));
  nav.setAttribute("aria-label", tr("views"));
  tools.setAttribute("aria-label", tr("tools"));
  menuButton.setAttribute("aria-label", tr("Menu"));
  if (facts.server) {
    home.setAttribute("aria-label", tr("All games"));
    home.title = tr("All games");
    elsewhere.setAttribute("aria-label", tr("other pages"));
    elsewhere.replaceChildren(...ELSEWHERE.map(([href, name]) => h("a", { href }, name())));
  }
  const views = [
    ["play", tr("Play")],
    ["analyse", tr("Analyse")],
    ...(puzzles.all.length || mistakes.all.length ? [["puzzles", tr("Puzzles")]] : []),
  ];
  swapIn(
    nav,
    ...views.map(([key, name]) =>
      h("button", { type: "button", "data-key": key, "data-view": key, onclick: () => go(key) }, name),
    ),
  );
}

const ELSEWHERE = [
  ["/games", () => tr("Games")],
  ["/training", () => tr("Training")],
];
let message = ""; // what is said in place of whose turn it is, until something is done
function tell(text) {
  message = text;
  status.textContent = text;
}

function failed(error) {
  console.warn(error);
  table.thinking = false;
  tell(tr("The engine failed: {reason}", { reason: error.message }));
}
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  failed(event.reason);
});

const fromStart = (one) => one === "puzzles" || (one === "learn" && learn.from === "puzzles");
function go(wanted) {
  if (wanted === "setup" && !facts.setsUp) return;
  if (view === "analyse") {
    stopSearch();
    if (wanted !== "analyse" && review.busy) {
      review.running = 0;
      engine.stop();
    }
  }
  if (view === "learn" && wanted !== "learn") learn.leave();
  if (wanted !== "analyse") endings.stop();
  if (view === "play" && wanted !== "play") {
    if (table.thinking) clock.stop(); // it runs on when the machine thinks again
    stopThinking();
    if (table.moves.length && !table.result) table.helped ||= wanted === "analyse";
  }
  if (table.setup && fromStart(wanted) !== fromStart(view))
    engine.call("setUp", fromStart(wanted) ? { cells: null, player: 1 } : table.setup);
  view = wanted;
  message = "";
  hinted = null;
  if (view === "play") {
    side = null;
    table.ply = table.moves.length;
  }
  if (view === "puzzles" && !puzzles.all.length) puzzles.level = YOURS;
  if (view === "puzzles" && !puzzles.one) puzzles.next();
  render();
  if (view === "play") machineMoves();
}

// ---- drawing

let drawnBefore = null,
  drawnNow = null;
function boardView() {
  const one = line(),
    position = here(),
    opinion = view === "analyse" ? opinionHere() : null;
  const lesson = view === "analyse" && !side && review.seen === one.ply ? review.moves[review.seen] : null;
  const treeMoves = treeLine();
  const lines = new Map([
    ...linesOf(opinion),
    ...(lesson?.line.length ? [[lesson.line[0], lesson.line]] : []),
    ...(treeMoves ? [["tree", treeMoves]] : []),
  ]);
  if (drawnNow !== position) [drawnBefore, drawnNow] = [drawnNow, position];
  return {
    position,
    before: one.positions[one.ply - 1] === drawnBefore ? drawnBefore : null,
    at: keyOf(shownMoves()),
    clickable: true,
    waits:
      view === "play" &&
      !counting.now &&
      (table.result !== null || table.seats[position.player] !== YOU || one.ply < one.moves.length),
    overlay: lesson || treeMoves ? new Map() : view === "analyse" ? overlayOf(opinion, shows.kind) : new Map(),
    lines,
    shown: treeMoves ? "tree" : lesson?.line[0],
    hint: view === "play" ? hinted : null,
    judged:
      view === "play" && lastValue.shows && one.ply >= lastValue.ply && one.ply <= lastValue.ply + 1
        ? { point: lastPoint(one.positions[lastValue.ply]), mark: lossMark(lastValue.loss) }
        : null,
    ownership: view === "analyse" && shows.kind === "O" ? territory.here?.owned : null,
    numbers: kept.get("numbers") === "on" ? moveNumbers(one.moves.slice(0, one.ply)) : null,
    ...counting.shown(),
  };
}
const setupView = () => ({
  position: { ...facts.start, cells: editor.cells, player: editor.player, legal: [], over: false, last: -1 },
  clickable: true,
  at: `setup ${editor.count}`,
  lines: new Map(),
});

function drawBoard() {
  const views = { puzzles: puzzleView, setup: setupView, learn: learnView };
  showBoard(stage, (views[view] ?? boardView)());
  showEnd();
}
// How the game ended, on the board, until it is left.
let endShown = null;
function showEnd() {
  const over = view === "play" && table.result && !side && table.ply === table.moves.length;
  const now = over ? `${table.moves.length} ${JSON.stringify(table.result)} ${language}` : null;
  if (now === endShown) return;
  endShown = now;
  ended.hidden = !over;
  ended.replaceChildren();
  if (!over) return;
  const { winner } = table.result,
    mood = me() === null || !winner ? "" : winner === me() ? "won" : "lost";
  ended.className = `ended ${mood}`;
  ended.replaceChildren(h("b", {}, headline(table.result)), h("span", {}, howItEnded(table.result)));
}
// The view whose name in the head is marked.
const viewName = () => (view === "learn" ? learn.from : view);

function render() {
  document.body.dataset.view = view;
  document.body.toggleAttribute("data-begun", hasBegun() && !table.asks);
  for (const one of nav.children)
    one.setAttribute("aria-current", one.dataset.view === viewName() ? "page" : "false");
  if (view === "analyse" && !review.busy) analyse(shows.sims, false);
  drawBoard();
  showStrips();
  showBar();
  status.textContent = message || statusText();
  others.classList.toggle("kept", view !== "setup" && hasOtherMoves); // nothing moves when they come and go
  swapIn(others, ...otherMoves());
  swapIn(tools, ...toolsOf[view]());
  showPanel();
  if (view === "analyse" && !review.busy) {
    if (shows.kind === "E" || opinionHere()) endings.ask(here(), shownMoves());
    if (shows.kind === "O") territory.ask();
  }
  rememberGame();
}
let held = false, // while a button or a finger is down nothing is drawn again, so that what is under it stays
  waits = false;
addEventListener("pointerdown", () => {
  held = true;
});
for (const end of ["pointerup", "pointercancel", "blur"])
  addEventListener(end, () =>
    setTimeout(() => {
      held = false;
      if (waits) showAnalysis();
    }),
  );
// A list that is open would close if it was drawn again; where a browser does not say so, one that was pressed.
const OPEN_LIST = CSS.supports("selector(:open)") ? "select:open" : "select[data-pressed]:focus";
panel.addEventListener("focusout", () => setTimeout(() => waits && showAnalysis()));
function showAnalysis() {
  // while a search runs
  const list = panel.querySelector(OPEN_LIST);
  waits = held || list !== null;
  if (view !== "analyse" || held) return;
  drawBoard();
  showBar();
  if (!list) showPanel();
}
function showPanel() {
  const before = document.querySelector(".moves")?.scrollTop;
  swapIn(panel, ...panelOf[view]());
  swapIn(extra, ...(extraOf[view]?.() ?? []));
  followMoves(before);
}

function statusText() {
  if (view === "puzzles") return puzzles.one ? task(puzzles) : "";
  if (view === "learn") return learn.item ? tr("{side} to move", { side: sideName(learn.position.player) }) : "";
  if (view === "setup") return tr("what a click places");
  const one = line(),
    position = here(),
    name = sideName(position.player);
  if (view === "analyse" || one.ply < one.moves.length) {
    if (one.ply === one.moves.length && table.result && !side) return headline(table.result);
    return tr("Move {ply} of {count}, {side} to move.", { ply: one.ply, count: one.moves.length, side: name });
  }
  if (table.result) return headline(table.result);
  if (counting.now) return counting.statusText();
  if (table.thinking) return tr("{side} is thinking ...", { side: nameOf(position.player) });
  if (me() !== null && position.player === me())
    return table.moves.length ? tr("Your move.") : tr("Your move: {side} begins.", { side: name });
  return tr("{side} to move", { side: name });
}

function showStrips() {
  const bottom = view === "play" || view === "analyse" ? (me() ?? 1) : 1,
    position = view === "puzzles" ? puzzles.position : view === "learn" ? learn.position : here(),
    ofGame = view === "play" || view === "analyse";
  for (const [place, one] of [
    ["top", -bottom],
    ["bottom", bottom],
  ]) {
    const strip = strips[place],
      seat = table.seats[one];
    const turn =
      !position.over &&
      !(ofGame && table.result && line().ply === line().moves.length && !side) &&
      position.player === one;
    strip.className = `strip ${place}${turn ? " turn" : ""}`;
    const level = seat === YOU || table.names || !ofGame ? null : levels[seat];
    const lost = view === "play" && lastValue.shows && seat === YOU ? lastValue : null;
    const points =
      facts.scored && position.score && (!facts.scoredByArea || position.over) ? pointsOf(position, one) : null;
    swapIn(
      strip,
      dot(one),
      h(
        "span.who",
        {},
        h("b", {}, ofGame ? nameOf(one) : sideName(one)),
        h("span.soft", {}, level ? ` ${strength(level)}` : ""),
        lost
          ? h(
              "span.lost-share",
              { class: `lost-share ${lossMark(lost.loss)}` },
              ` ${tr("last move: −{share} %", { share: (100 * lost.loss).toFixed(lost.loss < 0.1 ? 1 : 0) })}`,
            )
          : null,
        table.thinking && turn ? h("span.busy", { "aria-hidden": "true" }) : null,
      ),
      points === null ? null : h("span.points", {}, points),
      clock.left && view === "play"
        ? h("span.clock", {
            "data-side": one,
            role: "timer",
            "aria-label": tr("time of {side}", { side: sideName(one) }),
          })
        : null,
    );
  }
  showClocks();
}
function showClocks() {
  for (const box of document.querySelectorAll(".clock")) {
    const left = clock.now(Number(box.dataset.side)),
      low = left < 10 && clock.form !== "";
    box.textContent =
      left < 10 ? left.toFixed(1) : `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
    if (low && !box.classList.contains("low")) boardSounds.play("low");
    box.classList.toggle("low", low);
  }
}
function showBar() {
  bar.hidden = view !== "analyse";
  if (bar.hidden) return;
  const value = valueAt(line(), line().ply),
    bottom = me() ?? 1;
  bar.classList.toggle("turned", bottom === -1);
  if (value === null) return;
  bar.firstElementChild.style.height = `${50 + 50 * value}%`;
  bar.setAttribute("aria-label", tr("value for {side} {value}", { side: sideName(1), value: signed(value) }));
}

function otherMoves() {
  // those that are no point of the board, such as a pass
  if (view === "setup") return [];
  if (counting.now) return counting.buttons();
  const position = view === "puzzles" ? puzzles.position : view === "learn" ? learn.position : here();
  if (
    (view === "learn" && (learn.state === "busy" || learn.state === "right")) ||
    position.over ||
    (view === "play" && (table.result || table.seats[position.player] !== YOU)) ||
    (view === "puzzles" && puzzles.over)
  )
    return [];
  const held = view === "play" && teacher.held?.ply === table.ply ? teacher.held : null;
  if (held)
    return [
      button("on", tr("Play it anyway"), () => played(held.action), { key: "anyway" }),
      button(
        "hint",
        tr("Show a better one"),
        () => {
          hinted = held.best;
          teacher.held = null;
          render();
        },
        { key: "better" },
      ),
    ];
  return position.legal
    .filter((action) => pointOf(position, action) < 0)
    .map((action) =>
      h(
        "button.button",
        { type: "button", "data-key": `move${action}`, onclick: () => chosen(action) },
        OTHER_MOVES[moveName(action)]?.() ?? moveName(action),
      ),
    );
}
const OTHER_MOVES = { pass: () => tr("Pass"), swap: () => tr("Swap sides") };

const walkTools = () => {
  const { ply, moves } = line();
  return [
    ["first", tr("to the start"), 0],
    ["back", tr("one move back"), ply - 1],
    ["on", tr("one move on"), ply + 1],
    ["last", tr("to the end"), moves.length],
  ].map(([name, label, to]) =>
    button(name, label, () => walk(to), { key: name, bare: true, off: to < 0 || to > moves.length || to === ply }),
  );
};
const toolsOf = {
  play: () => {
    const over = table.result !== null;
    return [
      button("undo", tr("Undo"), takeBack, { key: "undo", off: !canTakeBack() }),
      over
        ? button("eye", tr("Mistakes"), () => learn.game(), { key: "learn", title: tr("Learn from your mistakes") })
        : button("hint", tr("Hint"), giveHint, { key: "hint", off: !canHint() }),
      over
        ? button("swap", tr("Rematch"), () => newGame({ rematch: true }), { key: "rematch" })
        : button("flag", tr("Resign"), askResign, { key: "resign", off: !table.moves.length || ending().over }),
      button("plus", tr("New game"), askNew, { key: "new", off: !table.moves.length }),
    ];
  },
  analyse: () => [...walkTools(), side ? button("undo", tr("Back to the game"), backToGame, { key: "game" }) : null],
  puzzles: () => [
    button("hint", tr("Hint"), () => puzzles.hint(), { key: "hint", off: !puzzles.one || puzzles.over }),
    puzzles.refuted
      ? button(
          "again",
          tr("Try again"),
          () => {
            puzzles.refuted = null;
            puzzles.note = "";
            render();
          },
          { key: "again" },
        )
      : button("eye", tr("Solution"), () => puzzles.solution(), {
          key: "solution",
          off: !puzzles.one || puzzles.over,
        }),
    button("look", tr("Analyse"), analysePuzzle, { key: "look", off: !puzzles.over }),
    button("on", tr("Next"), () => puzzles.next(), { key: "next", main: puzzles.over }),
  ],
  learn: () => [
    button("close", learn.from === "puzzles" ? tr("Puzzles") : tr("Analyse"), () => learn.end(), { key: "end" }),
    learn.state === "wrong"
      ? button("again", tr("Try again"), () => learn.open(learn.items, learn.index), { key: "again" })
      : null,
  ],
  setup: () => [
    choice(
      tr("what a click places"),
      [
        [1, sideName(1)],
        [-1, sideName(-1)],
        [0, tr("Empty")],
      ],
      editor.piece,
      (piece) => {
        editor.piece = Number(piece);
        render();
      },
    ),
    button(
      "again",
      tr("Clear"),
      () => {
        editor.cells.fill(0);
        editor.count++;
        render();
      },
      { key: "clear" },
    ),
  ],
};

const panelOf = {
  play: () => [
    table.result && line().ply === table.moves.length ? resultCard() : null,
    counting.now ? counting.card() : null,
    hasBegun() && !table.asks ? null : opponentCard(),
    table.moves.length ? movesCard() : null,
  ],
  analyse: () => {
    const tree = atLeft() ? null : treeCard();
    return review.moves.length ? [reviewCard(), analysisCard(), tree] : [analysisCard(), tree, reviewCard()];
  },
  learn: () => [learnCard()],
  puzzles: () => [
    puzzles.note
      ? h(
          "p.verdict",
          { role: "status", class: `verdict ${puzzles.refuted ? "bad" : puzzles.solved ? "good" : ""}` },
          puzzles.note,
        )
      : null,
    puzzleCard(),
  ],
  setup: () => [
    card("setup", tr("Set up a position"), [
      h(
        "div.row",
        {},
        choice(
          tr("side to move"),
          STONES.map((one) => [one, tr("{side} to move", { side: sideName(one) })]),
          editor.player,
          (one) => {
            editor.player = Number(one);
            render();
          },
        ),
      ),
      h(
        "div.row",
        {},
        button("on", tr("Play from here"), () => setUp("play"), { key: "play", main: true }),
        button("look", tr("Analyse"), () => setUp("analyse"), { key: "look" }),
        button("close", tr("Cancel"), () => go("play"), { key: "cancel" }),
      ),
    ]),
  ],
};

// What stands at the left of the board on a wide screen, else below.
const atLeft = () => matchMedia("(min-width: 1500px)").matches;
const extraOf = {
  play: () => [aboutCard()],
  analyse: () => [graphCard(), movesCard(), atLeft() ? treeCard() : null],
  puzzles: () => [puzzleNumbers()],
  learn: () => (learn.from === "puzzles" ? [card("own-puzzles", tr("from your games"), [ownPuzzles()])] : []),
};

function aboutCard() {
  return card("about", gameName(facts), [
    h("p.soft.rules", {}, sentences(inLanguage(facts.rules))),
    h(
      "p.soft.who-plays",
      {},
      networkLine(),
      " ",
      h("button.link", { type: "button", onclick: openAbout, "data-key": "about" }, tr("About this player")),
    ),
  ]);
}
function resultCard() {
  return card("result", null, [
    h("p.result", {}, headline(table.result)),
    table.result.dead?.length
      ? counting.table(table.result)
      : howItEnded(table.result)
        ? h("p.soft", {}, howItEnded(table.result))
        : null,
    h(
      "div.row",
      {},
      button("swap", tr("Rematch"), () => newGame({ rematch: true }), {
        key: "card-rematch",
        main: true,
        title: tr("another game, with the sides swapped"),
      }),
      button("eye", tr("Learn from your mistakes"), () => learn.game(), { key: "card-review" }),
      button("look", tr("Analyse"), () => go("analyse"), { key: "card-look" }),
    ),
  ]);
}

function opponentCard() {
  const friend = friends(),
    now = friend ? "friend" : fits.on ? "fits" : table.seats[-(me() ?? -1)];
  const tile = (key, name, below, title = null) =>
    h(
      "button.tile",
      {
        type: "button",
        "aria-pressed": String(key === now),
        "data-key": `tile${key}`,
        title,
        onclick: () => askFirst(() => seat(key)),
      },
      h("b", {}, name),
      h("span", {}, below),
    );
  const times = [
    ["", tr("no clock")],
    ...["1+0", "3+2", "5+3", "10+5", "30+0"].map((form) => [
      form,
      tr("{minutes} min + {seconds} s", { minutes: form.split("+")[0], seconds: form.split("+")[1] }),
    ]),
  ];
  return card("opponents", tr("Opponent"), [
    h(
      (levels.filter((level) => !level.listed).length + 2) % 3 ? "div.tiles.four" : "div.tiles",
      {},
      levels.map((level, i) => (level.listed ? null : tile(i, tr(level.name), strength(level)))),
      tile(
        "fits",
        tr("Fits me"),
        tr("adapts to you"),
        tr("one step up after a game won, one down after a game lost"),
      ),
      tile("friend", tr("A friend"), tr("at this screen")),
    ),
    otherPlayers(now),
    friend
      ? null
      : h(
          "div.row",
          {},
          h("span.label", {}, tr("You play")),
          choice(
            tr("You play"),
            [
              ["first", tr("First")],
              ["second", tr("Second")],
              ["lot", tr("Random")],
              ["watch", tr("Watch")],
            ],
            order,
            (key) =>
              askFirst(() => {
                order = key;
                kept.set("order", key);
                newGame({ keep: true });
              }),
          ),
        ),
    h(
      "div.row",
      {},
      h("span.label", {}, tr("Clock")),
      select(tr("Clock"), times, clock.form, (form) =>
        askFirst(() => {
          clock.form = form;
          kept.set("clock", form);
          newGame({ keep: true });
        }),
      ),
    ),
    table.asks
      ? null
      : h(
          "div.row.begin",
          {},
          button("on", tr("Play"), () => startPlaying(), { key: "begin", main: true }),
        ),
  ]);
}
// Players without a tile: a list, as a server may have many. Each plays with any budget that it takes.
function otherPlayers(now) {
  const others = levels.map((level, i) => [i, level]).filter(([, level]) => level.listed);
  if (!others.length) return null;
  const chosen = levels[now]?.listed ? now : "",
    takes = levels[chosen]?.takes;
  return [
    h(
      "div.row",
      {},
      h("span.label", {}, tr("Other")),
      select(
        tr("Other"),
        [["", tr("other players ...")], ...others.map(([i, level]) => [i, level.label ?? tr(level.name)])],
        chosen,
        (i) => i !== "" && askFirst(() => seat(Number(i))),
      ),
    ),
    takes ? budgetRow(chosen) : null,
  ];
}
const typed = { at: -1, text: "", fault: "" }; // a budget that is being typed, of the opponent at this place
function budgetRow(at) {
  const level = levels[at];
  if (typed.at !== at) Object.assign(typed, { at, text: level.budget, fault: "" });
  const box = h("input.budget", {
    type: "text",
    value: typed.text,
    maxlength: 12,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": tr("Budget"),
    "aria-describedby": "budget-said",
    "aria-invalid": String(Boolean(typed.fault)),
    "data-key": "Budget",
    oninput: () => {
      typed.text = box.value;
    },
    onchange: () => {
      const before = level.budget;
      typed.text = box.value;
      typed.fault = "";
      try {
        setBudget(level, box.value);
      } catch (error) {
        typed.fault = faultText(error);
        render();
        return;
      }
      typed.text = level.budget;
      kept.set(budgetKey(level), level.budget);
      if (level.budget === before) render();
      else askFirst(() => seat(at));
    },
  });
  return h(
    "div.row",
    {},
    h("span.label", {}, tr("Budget")),
    box,
    h(
      `span.budget-said${typed.fault ? ".wrong" : ".soft"}`,
      { id: "budget-said", role: "status" },
      typed.fault || budgetWords(level),
    ),
  );
}
// The choice is made: the board is what one looks at now.
function startPlaying() {
  scrollTo({ top: 0, behavior: "smooth" });
  stage.focus({ preventScroll: true });
  machineMoves();
}

function movesCard() {
  const one = line(),
    fork = side ? forkOf() : -1;
  const list = h(
    "div.moves",
    {},
    one.moves.map((action, i) => {
      const mark = side ? null : review.moves[i]?.mark;
      return h(
        `button${mark ? `.${mark}` : ""}`,
        {
          type: "button",
          "data-key": `ply${i}`,
          "aria-current": one.ply === i + 1 ? "step" : null,
          onclick: () => walk(i + 1),
          class: fork >= 0 && i >= fork ? "own" : null,
        },
        h("span.nr", {}, `${i + 1}.`),
        spokenName(action),
        mark ? MARKS[mark] : "",
      );
    }),
  );
  if (!one.moves.length)
    return view === "analyse"
      ? card("moves-card", null, [h("p.soft", {}, tr("A click on the board plays a move, of both sides in turn."))])
      : null;
  return card("moves-card", null, [
    list,
    view === "play" && one.moves.length > 1 ? h("div.row.walk", {}, walkTools()) : null,
    view === "analyse" ? triesPart() : null,
    view === "play" && hasBegun() && !table.asks && !table.result && me() !== null
      ? h(
          "button.link",
          {
            type: "button",
            "data-key": "change",
            onclick: () => {
              table.asks = true;
              render();
            },
          },
          tr("Change the opponent"),
        )
      : null,
  ]);
}
// The lines that were tried, as a tree: a click returns to one.
function triesPart() {
  if (!tries.length) return null;
  return h(
    "div.tries",
    { role: "group", "aria-label": tr("Lines that you tried") },
    h("h3", {}, tr("Lines that you tried")),
    tryTree().map(({ one, fork, depth }, row) => {
      const part = h(
        "div.try",
        {},
        one.moves.slice(fork).map((action, i) =>
          h(
            "button",
            {
              type: "button",
              "data-key": `try${row} ${i}`,
              "aria-current": side === one && one.ply === fork + i + 1 ? "step" : null,
              onclick: () => returnTo(one, fork + i + 1),
            },
            h("span.nr", {}, i && (fork + i) % 2 ? "" : `${fork + i + 1}.`),
            spokenName(action),
          ),
        ),
        button("close", tr("Forget this line"), () => dropTry(one), { bare: true, key: `drop${row}` }),
      );
      part.style.marginLeft = `${14 * Math.min(depth, 6)}px`;
      return part;
    }),
  );
}
function graphCard() {
  const graph = valueGraph();
  return graph && card("values", null, [graph]);
}
// The list of moves stays where it was scrolled to, until another move is shown.
let followed = null; // the position that it shows
function followMoves(before) {
  const list = document.querySelector(".moves"),
    now = list?.querySelector("[aria-current]");
  if (!list) return;
  list.scrollTop = before ?? 0;
  if (here() === followed && before !== undefined) return;
  followed = here();
  const top = now ? now.offsetTop : 0;
  if (top < list.scrollTop || top + (now?.offsetHeight ?? 0) > list.scrollTop + list.clientHeight)
    list.scrollTop = top - list.clientHeight / 2;
}

// ---- clicks and keys

function chosen(action) {
  if (view === "puzzles") puzzles.answer(action);
  else if (view === "learn") learn.answer(action);
  else if (view === "setup") place(action);
  else if (counting.now) isStone(here().cells[action]) && counting.tap(action);
  else played(action);
}
const SMALL = 28; // CSS pixels: smaller points are confirmed by a second tap
let tapped = null,
  lastClick = { time: -1e9, action: -1 },
  pressed = null, // where the pointer went down: the board may be drawn again before it comes up
  handled = -1e9; // when a press was taken as a click, whose own event comes after it
stage.addEventListener("pointerdown", (e) => {
  pressed = e.isPrimary && e.button === 0 ? { x: e.clientX, y: e.clientY } : null;
});
addEventListener("pointerup", (e) => {
  if (!pressed || Math.hypot(e.clientX - pressed.x, e.clientY - pressed.y) > 12) pressed = null;
  if (!pressed) return;
  pressed = null;
  const target = document.elementFromPoint(e.clientX, e.clientY)?.closest?.(".stage [data-action]");
  if (!target) return;
  handled = performance.now();
  clicked(target, true, e.pointerType !== "mouse");
});
addEventListener("pointercancel", () => {
  pressed = null;
});
stage.addEventListener("click", (e) => {
  const target = e.target.closest?.("[data-action]"),
    byHand = e.detail > 0;
  if (!target || (byHand && performance.now() - handled < 700)) return;
  const finger = e.pointerType ? e.pointerType !== "mouse" : matchMedia("(pointer: coarse)").matches;
  clicked(target, byHand, byHand && finger);
});
function clicked(target, byHand, finger) {
  const now = performance.now(),
    action = Number(target.dataset.action),
    board = stage.firstElementChild;
  if (byHand && now - lastClick.time < 300 && action === lastClick.action) return; // the second click of a double one
  const free = board.querySelector(`.point.free[data-action="${action}"]`);
  if (
    finger &&
    free &&
    view !== "setup" &&
    !("waits" in board.dataset) &&
    target.getBoundingClientRect().width < SMALL
  ) {
    const key = `${board.dataset.at} ${action}`;
    if (tapped !== key) {
      tapped = key;
      board.querySelector(".tap-ghost")?.remove();
      const [x, y] = at(Number(free.dataset.point)),
        shape = document.createElementNS(board.namespaceURI, "circle");
      for (const [name, value] of Object.entries({
        cx: x,
        cy: y,
        r: 17,
        fill: board.dataset.turn,
        class: "tap-ghost",
      }))
        shape.setAttribute(name, value);
      board.querySelector(".point").before(shape);
      tell(tr("Tap again to play {move}.", { move: inWords(action) }));
      return;
    }
  }
  tapped = null;
  if (byHand) lastClick = { time: now, action };
  chosen(action);
}
stage.addEventListener("mousedown", (e) => {
  e.preventDefault();
  if (document.activeElement !== stage) document.activeElement?.blur();
});

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, textarea, select, dialog")) return;
  const { ply, moves } = line(),
    to = { ArrowLeft: ply - 1, ArrowRight: ply + 1, ArrowUp: 0, Home: 0, ArrowDown: moves.length, End: moves.length }[
      e.key
    ];
  if (to !== undefined && (view === "play" || view === "analyse") && e.target !== stage) {
    e.preventDefault();
    walk(to);
  } else if (e.key === "?") openKeys();
  else if (e.key === "u" && view === "play") takeBack();
  else if (e.key === "h" && view !== "setup")
    view === "puzzles" ? puzzles.one && !puzzles.over && puzzles.hint() : view === "play" && canHint() && giveHint();
  else if (e.key === "n" && view === "play") askNew();
  else if (e.key === "d" && view === "analyse") deepen();
});
let wheel = 0;
stage.addEventListener(
  "wheel",
  (e) => {
    if (view !== "analyse" || e.ctrlKey) return;
    e.preventDefault();
    wheel = e.deltaY * wheel > 0 ? wheel + e.deltaY : e.deltaY;
    if (Math.abs(wheel) < 50 && !e.deltaMode) return;
    walk(line().ply + Math.sign(wheel));
    wheel = 0;
  },
  { passive: false },
);

// ---- before a game is given up, and the menu

const hasBegun = () => table.result !== null || canTakeBack(); // from a person's first move on
const unfinished = () => hasBegun() && !table.result && !table.given && people().length > 0;
function askResign() {
  ask(tr("Give the game up?"), tr("Give up"), resign);
}
function askNew() {
  if (table.moves.length) askFirst(() => newGame());
}
// Does what puts another game on the table, once the person agrees if a game is not over; else what was chosen is shown
// as it was.
function askFirst(deed, name = tr("New game")) {
  if (!unfinished()) return deed();
  let agreed = false;
  const yes = () => {
    agreed = true;
    deed();
  };
  const box = ask(tr("Begin a new game?"), name, yes, { more: tr("Your game is not over.") });
  box.addEventListener("close", () => agreed || render());
}

function openMenu() {
  const item = (text, deed, now = null) =>
    h(
      "button.item",
      { type: "button", onclick: deed },
      h("span", {}, text),
      now === null ? null : h("span.soft", {}, now),
    );
  const note = h("p.soft", { role: "status" });
  const again = (deed) => () => {
    deed();
    box.close();
    render();
    openMenu();
  };
  const saved = (form, text, type) => () => {
    saveFile(`${facts.spec.replace(/[^\w.-]+/g, "-")}.${form}`, text(), type);
    note.textContent = tr("Saved.");
  };
  const onOff = (is) => (is ? tr("on") : tr("off"));
  const theme = document.documentElement.dataset.theme;
  const file = h("input", {
    type: "file",
    accept: ".json,.sgf,.txt",
    hidden: true,
    onchange: () => file.files[0] && loadFile(file.files[0], note),
  });
  const box = dialog(
    tr("Menu"),
    h(
      "div.items",
      {},
      h("h3", {}, tr("This game")),
      item(tr("Copy link"), () => {
        copyText(linkHere()).then((done) => {
          note.textContent = done ? tr("The link is copied.") : linkHere();
        });
      }),
      item(tr("Copy moves"), () =>
        copyText(line().moves.map(moveName).join(" ")).then((done) => {
          note.textContent = done ? tr("The moves are copied.") : line().moves.map(moveName).join(" ");
        }),
      ),
      item(
        tr("Save {form}", { form: ".json" }),
        saved("json", () => toJson(record()), "application/json"),
      ),
      facts.drawing
        ? item(tr("Save {form}", { form: ".png" }), () =>
            savePicture().then(() => {
              note.textContent = tr("Saved.");
            }),
          )
        : null,
      facts.sgf
        ? item(
            tr("Save {form}", { form: ".sgf" }),
            saved("sgf", () => toSgf(record(), line().positions), "application/x-go-sgf"),
          )
        : null,
      item(tr("Load a game ({forms})", { forms: facts.sgf ? ".json, .sgf, .txt" : ".json, .txt" }), () =>
        file.click(),
      ),
      file,
      item(tr("Type or paste moves"), openTyped),
      facts.setsUp
        ? item(tr("Set up a position"), () => {
            box.close();
            editor.open();
          })
        : null,
      h("h3", {}, tr("Settings")),
      item(
        tr("Sounds"),
        again(() => boardSounds.toggle()),
        onOff(boardSounds.on),
      ),
      item(
        tr("Numbers on the stones"),
        again(() => kept.set("numbers", kept.get("numbers") === "on" ? "off" : "on")),
        onOff(kept.get("numbers") === "on"),
      ),
      item(
        tr("Teacher: holds a move that loses"),
        again(() => kept.set("teacher", teacher.on ? "off" : "on")),
        onOff(teacher.on),
      ),
      item(
        tr("Value of your last move"),
        again(() => kept.set("last-value", lastValue.on ? "off" : "on")),
        onOff(lastValue.on),
      ),
      themes.length > 1
        ? item(
            tr("Board"),
            again(() => {
              kept.set("board", themes[(themes.indexOf(boardTheme()) + 1) % themes.length]);
              paintBoard();
            }),
            tr(THEME_NAMES[boardTheme()]),
          )
        : null,
      item(
        tr("light or dark"),
        again(() => {
          kept.set("theme", theme === "dark" ? "light" : "dark");
          showTheme();
        }),
        theme === "dark" ? tr("dark") : tr("light"),
      ),
      Object.keys(facts.languages).length > 1
        ? item(
            "Language · 语言",
            again(() => {
              const all = Object.keys(facts.languages);
              language = all[(all.indexOf(language) + 1) % all.length];
              kept.set("language", language);
              frame();
            }),
            facts.languages[language],
          )
        : null,
      h("h3", {}, tr("Help")),
      item(tr("keyboard shortcuts"), openKeys),
      item(tr("About this player"), openAbout),
      facts.server
        ? [
            h("h3", {}, "AlphaZero"),
            h("a.item", { href: "/" }, tr("All games")),
            ELSEWHERE.map(([href, name]) => h("a.item", { href }, name())),
          ]
        : null,
      "site" in document.documentElement.dataset ? h("a.item", { href: "index.html" }, tr("Other games")) : null,
    ),
    note,
  );
}

// Moves as text, such as "4 4 3" or "e5d4".
function openTyped() {
  const text = h("textarea", { rows: 5, "aria-label": tr("moves"), spellcheck: "false" }),
    note = h("p.soft", { role: "status" });
  text.value = line().moves.map(moveName).join(" ");
  dialog(
    tr("Type or paste moves"),
    text,
    note,
    h(
      "div.row.answers",
      {},
      button(
        null,
        tr("Open"),
        () => openRead(() => ({ moves: movesOfText(text.value), setup: table.setup, ...NOBODY }), note),
        { main: true },
      ),
    ),
  );
  text.focus();
}
// The board as it is seen, as a picture.
async function savePicture() {
  const svg = stage.firstElementChild.cloneNode(true),
    scale = 2.5;
  for (const one of svg.querySelectorAll(".ghost, .point, [visibility=hidden]")) one.remove();
  svg.setAttribute("width", drawing.width * scale);
  svg.setAttribute("height", drawing.height * scale);
  svg.setAttribute("color", "#30353c");
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }),
    ink = canvas.getContext("2d");
  ink.fillStyle = "#ffffff";
  ink.fillRect(0, 0, canvas.width, canvas.height);
  ink.drawImage(image, 0, 0);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  saveFile(`${facts.spec.replace(/[^\w.-]+/g, "-")}.png`, blob, "image/png");
}

function openKeys() {
  const keys = [
    ["← →", tr("one move back or on")],
    ["↑ ↓", tr("to the start or to the end")],
    ["Tab, " + tr("arrows") + ", Enter", tr("on the board: play at the cursor")],
    ["u", tr("undo: take your last move back")],
    ["h", tr("Hint")],
    ["n", tr("a new game")],
    ["d", tr("in Analyse: search deeper")],
    ["?", tr("this list")],
    ["Esc", tr("close what is open")],
  ];
  dialog(
    tr("keyboard shortcuts"),
    h(
      "dl.keys",
      {},
      keys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]),
    ),
  );
}

function networkLine() {
  const { player } = facts;
  if (!player.name) return tr("The server plays this game: a browser cannot.");
  if (player.early)
    return tr("The machine is version {version} of a training that comes with the program, from its early part.", {
      version: player.version,
    });
  if (player.ownNetwork)
    return tr("The machine is {name}, a network that somebody trained for themselves.", { name: player.name });
  return tr("The machine is the network that ships with the program, version {version}.", {
    version: player.version,
  });
}
// How many of the positions that a solver knows it plays right, by its largest search; null where none were measured.
function solvedLine() {
  const { exact } = facts.player.scoreboard ?? {},
    best = exact?.players?.filter((one) => Number.isFinite(one.simulations)).at(-1);
  if (!best) return null;
  return tr("In {positions} solved positions it keeps the value in {share} %, with {count} simulations.", {
    positions: number(exact.positions),
    share: (100 * best.kept.share).toFixed(1),
    count: number(best.simulations),
  });
}
function openAbout() {
  const { player } = facts,
    measured = levels.filter((level) => Number.isFinite(level.elo));
  const rowsOf = measured.map((level) =>
    h("tr", {}, h("td", {}, tr(level.name)), h("td", {}, `Elo ${number(level.elo)}`), h("td", {}, howItPlays(level))),
  );
  dialog(
    tr("About this player"),
    h("p", {}, networkLine()),
    player.games
      ? h(
          "p",
          {},
          tr("It was trained in {iterations} iterations with {games} games against itself, in {minutes} minutes.", {
            iterations: number(player.iterations),
            games: number(player.games),
            minutes: number(player.minutes),
          }),
        )
      : null,
    measured.length
      ? [
          h("table.found.levels", {}, h("tbody", {}, rowsOf)),
          h("p.soft", {}, tr("Elo counts from a player of random moves, by matches between the levels.")),
        ]
      : solvedLine()
        ? null
        : h("p.soft", {}, tr("How strong it is was not measured.")),
    solvedLine() ? h("p.soft", {}, solvedLine()) : null,
    h("h3", {}, tr("How it works")),
    h(
      "p",
      {},
      sentences(
        tr("A neural network looks at a position and says which moves look good and who is ahead."),
        tr("It has learned both from games against itself, from the rules alone."),
        tr("A search reads ahead where the network sees promise, and plays the move that it looked at most."),
      ),
    ),
    h(
      "p",
      {},
      sentences(
        tr("Rules, network and search run in the page, on your device."),
        tr("It asks nothing of the internet and sends nothing."),
      ),
    ),
  );
}

// ---- files, links, the position set up

const faultText = (error) => (error instanceof Fault ? error.message : tr("This file cannot be read."));
const komis = ({ komi }) => ({ other: komi, komi: facts.sgf.komi });
const NOBODY = { result: null, players: ["", ""] }; // of a record: nothing but moves
// Opens the record that a function reads in Analyse; a fault is said in the dialog's note and below the board.
async function openRead(read, note = {}) {
  const refused = (error) => {
    note.textContent = faultText(error);
    tell(note.textContent);
  };
  try {
    const record = await read();
    const shown = () => {
      document.querySelector("dialog[open]")?.close();
      go("analyse");
      if (record.komi) tell(tr("This file has komi {other}; this page counts with {komi}.", komis(record)));
    };
    askFirst(() => open(record).then(shown, refused), tr("Open"));
  } catch (error) {
    refused(error);
  }
}
const loadFile = (file, note) =>
  openRead(async () => {
    if (file.size > LARGEST) throw new Fault(tr("This file is too large for a game."));
    return fromFile(file.name, await file.text());
  }, note);
document.addEventListener("dragover", (e) => e.preventDefault());
document.addEventListener("drop", (e) => {
  e.preventDefault();
  const [file] = e.dataTransfer?.files ?? [];
  if (file) loadFile(file);
});
const linkHere = () =>
  location.href.split("#")[0] + linkOf(record(), line().ply, view === "analyse" ? "analyse" : "play");
// A game that is not over is given up only once the person agrees. One of the person's own that the page begins with was
// chosen from a list in which the other stays.
async function followLink(begins = false) {
  if (!location.hash) return;
  const refused = (error) => {
    render();
    tell(
      error instanceof Fault
        ? `${tr("This link cannot be opened.")} ${error.message}`
        : tr("This link cannot be opened."),
    );
  };
  try {
    const own = /^#own=(\w+)$/.exec(location.hash),
      found = own ? null : fromLink(location.hash),
      deed = () => (own ? openOwnGame(own[1]) : openLink(found)).catch(refused);
    if (own ? !begins : found.moves.length || found.setup) await askFirst(deed, tr("Open"));
    else await deed();
  } catch (error) {
    refused(error);
  }
  history.replaceState(null, "", location.href.split("#")[0]);
}
async function openLink({ moves, setup, ply, view: wanted }) {
  if (moves.length || setup) await open({ moves, setup, ...NOBODY }, ply);
  if (wanted === "play") {
    table.names = null;
    table.helped = true;
  }
  if (wanted) go(wanted === "puzzles" && !puzzles.all.length ? "play" : wanted);
}
addEventListener("hashchange", () => followLink());

// The game that is being played is kept: a page that is loaded again continues it.
let remembers = false; // from when the kept game is on the table
function rememberGame() {
  if (remembers) keepOwnGame();
  if (!remembers || view !== "play") return;
  const { moves } = table,
    setup = table.setup && setupJson(table.setup);
  kept.set(
    `game:${facts.spec}`,
    table.result || (!moves.length && !setup) || clock.left
      ? ""
      : JSON.stringify({
          moves,
          setup,
          seats: keptSeats(table),
          helped: table.helped,
          given: table.given,
          key: ownGame.key,
        }),
  );
}
// On a server's page: its players are opponents too, and a stored game or one of the person's own may be what is wanted.
async function beginOnServer() {
  try {
    const { players } = await server.get("players", { game: facts.spec });
    for (const { name, label, takes, usual } of players)
      levels.push(withBudget({ name: label, label, player: name, takes, elo: null, listed: true }, usual));
  } catch (error) {
    console.warn(error);
  }
  if (!table.moves.length) seatRemembered();
  const wanted = new URLSearchParams(location.search).get("record"),
    [name, iteration, number, kind] = wanted?.split(",") ?? [];
  if (!wanted) return;
  try {
    const { actions, result, players, values } = await server.get("game", { name, iteration, number, kind });
    await open({ moves: actions, result, players }, 0);
    stored.values = new Map(Object.entries(values ?? {}).map(([ply, value]) => [Number(ply), value]));
    go("analyse");
  } catch (error) {
    tell(error.message);
  }
}
// The search's values of a stored game, which stay in the curve whatever later searches find.
const stored = { values: new Map() };

// The games of this browser, for the list of a server's page: the newest, from the person's first move on.
const ownGame = { key: null };
const MOST_OWN = 60,
  LARGEST_OWN = 300_000;
function ownGames() {
  try {
    const found = JSON.parse(kept.get("mine") ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
function keepOwnGame() {
  if (!facts.server || view !== "play" || table.setup || table.names || !hasBegun() || !table.moves.length) return;
  ownGame.key ??= `${Date.now().toString(36)}`;
  const end = ending(),
    machine = me() === null ? null : table.seats[-me()];
  const one = {
    key: ownGame.key,
    spec: facts.spec,
    url: location.pathname + location.search.replace(/[?&]record=[^&]*/, ""),
    moves: table.moves,
    cells: [...end.cells],
    last: lastPoint(end),
    result: table.result?.winner ?? null,
    seats: keptSeats(table),
    who:
      machine === null ? tr("A friend") : `${sideName(me())} – ${levels[machine].label ?? tr(levels[machine].name)}`,
    board: facts.spec,
  };
  let games = [...ownGames().filter(({ key }) => key !== one.key), one].slice(-MOST_OWN);
  while (games.length > 1 && JSON.stringify(games).length > LARGEST_OWN) games = games.slice(1);
  kept.set("mine", JSON.stringify(games));
  if (!kept.get(`mine:${facts.spec}`))
    kept.set(
      `mine:${facts.spec}`,
      JSON.stringify({ drawing: facts.drawing, sideNames: facts.sideNames, title: facts.title }),
    );
}
async function openOwnGame(wanted) {
  const one = ownGames().find(({ key, spec }) => key === wanted && spec === facts.spec);
  if (!one) throw new Fault(tr("This game is no longer kept in this browser."));
  await open({ moves: one.moves, result: one.result, players: ["", ""] });
  Object.assign(table, { seats: seatsOf(one.seats) ?? table.seats, given: false });
  ownGame.key = one.key;
  go(table.result ? "analyse" : "play");
}

async function resumeGame() {
  try {
    const { moves, setup, seats, helped, given, key } = JSON.parse(kept.get(`game:${facts.spec}`) || "null") ?? {};
    const there = seatsOf(seats);
    if (!Array.isArray(moves) || !moves.every(Number.isInteger) || !there || (!moves.length && !setup)) return;
    await open({ moves, setup: setup ? setupOf(setup) : null, ...NOBODY });
    Object.assign(table, {
      seats: there,
      given: typeof given?.komi === "string" && { komi: given.komi },
      helped: Boolean(helped),
    });
    ownGame.key = typeof key === "string" ? key : null;
    if (table.result && (await counting.begins())) table.result = null;
    if (table.result) {
      Object.assign(table, { moves: [], positions: [facts.start], ply: 0, result: null });
      if (table.setup) await clearSetup();
    }
  } catch (error) {
    console.warn(error);
  }
}

const editor = {
  cells: [],
  piece: 1,
  player: 1,
  count: 0,
  open() {
    Object.assign(this, {
      cells: [...here().cells].map((cell) => (isStone(cell) ? cell : 0)),
      player: here().player,
      count: this.count + 1,
    });
    side = null;
    go("setup");
  },
};
function place(action) {
  const point = pointOfAction(action);
  if (point < 0) return;
  editor.cells[point] = editor.cells[point] === editor.piece ? 0 : editor.piece;
  editor.count++;
  drawBoard();
}
function setUp(then) {
  const setup = { cells: [...editor.cells], player: editor.player };
  askFirst(() =>
    open({ moves: [], setup, ...NOBODY }).then(
      () => go(then),
      (error) => tell(error.message),
    ),
  );
}
const analysePuzzle = () => askFirst(openPuzzle, tr("Analyse"));
async function openPuzzle() {
  const { moves, one } = puzzles;
  await open({ moves: moves.slice(0, one.moves.length), ...NOBODY });
  go("analyse");
}

// ---- the beginning

async function begin() {
  seatRemembered();
  clock.start();
  frame();
  render();
  liveBoard(document, ".stage");
  try {
    await engine.ready;
  } catch (error) {
    tell(tr("This browser cannot run the engine: {reason}", { reason: error.message }));
    return;
  }
  if (facts.server) await beginOnServer();
  if (!table.moves.length) await resumeGame();
  await followLink(true);
  remembers = true;
  document.documentElement.dataset.ready = "";
  render();
  if (view === "play") machineMoves();
  if ("site" in document.documentElement.dataset && "serviceWorker" in navigator)
    navigator.serviceWorker.register("service-worker.js").catch(() => {});
}
begin();
