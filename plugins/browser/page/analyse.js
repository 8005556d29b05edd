// Analyse: what the search found on the position that is shown; the values over the game; the review of its moves.

const found = new Map(); // {moves, as a text: {opinion, sims}}, the newest last
const MOST_FOUND = 400;
const BUDGETS = [100, 400, 1600, 6400];
const SHOWN_MOVES = 8;
const shows = {
  wanted: kept.get("overlay"), // perhaps on the page of another game, which has other kinds
  get kind() {
    return overlayKinds().some(([kind]) => kind === this.wanted) ? this.wanted : "N";
  },
  sims: BUDGETS.includes(Number(kept.get("sims"))) ? Number(kept.get("sims")) : 400,
};
const searching = { key: null, sims: 0, number: 0 };

const keyOf = (moves) => moves.join(" ");
const shownMoves = () => line().moves.slice(0, line().ply);
const opinionHere = () => found.get(keyOf(shownMoves()))?.opinion ?? null;
function remember(moves, opinion, sims) {
  const key = keyOf(moves);
  found.delete(key);
  found.set(key, { opinion, sims });
  if (found.size > MOST_FOUND) found.delete(found.keys().next().value);
}

// Searches the position that is shown, up to `sims` simulations in all; shows what it finds on the way. drawn: that a
// search runs is shown at once.
async function analyse(sims = shows.sims, drawn = true) {
  const moves = shownMoves(),
    key = keyOf(moves);
  if (here().over || (found.get(key)?.sims ?? 0) >= sims || (searching.key === key && searching.sims >= sims)) return;
  const mine = ++searching.number;
  Object.assign(searching, { key, sims });
  engine.stop();
  if (drawn) showAnalysis();
  const start = table.setup;
  try {
    const last = await engine.call("search", { moves, sims }, ({ opinion }) => {
      if (mine !== searching.number) return;
      remember(moves, opinion, 0);
      showAnalysis();
    });
    if (last.opinion && start === table.setup) remember(moves, last.opinion, last.stopped ? 0 : sims);
  } catch (error) {
    failed(error);
  }
  if (mine !== searching.number) return;
  searching.key = null;
  showAnalysis();
}
function stopSearch() {
  if (searching.key === null) return;
  searching.number++;
  searching.key = null;
  engine.stop();
}
const visitsOf = (opinion) => opinion.visits.reduce((sum, n) => sum + n, 0);
function deepen() {
  if (review.busy) return; // which the engine's next search would end
  analyse(Math.max(4 * visitsOf(opinionHere() ?? { visits: [shows.sims / 4] }), shows.sims));
}

// ---- on the board

const signed = (value) =>
  value === null || value === undefined
    ? ""
    : Math.round(100 * value) === 0
      ? "0"
      : (value > 0 ? "+" : "−") + Math.abs(value).toFixed(2).replace(/^0/, "");
const percent = (share) =>
  share === 0 || share === 1 ? 100 * share : Math.min(Math.max(Math.round(100 * share), 1), 99);
// A share of visits or of priors in %; a chance is never 0 or 100 before it is proven, a share may be.
const shareWords = (share) => `${share > 0 && share < 0.005 ? "<1" : Math.round(100 * share)} %`;

const overlayKinds = () => [
  ["N", "Visits"],
  ["P", "Prior"],
  ["Q", "Q"],
  ["V", "Network"],
  ...(endings.can ? [["E", said("To the end")]] : []),
  ...(territory.can ? [["O", said("Territory")]] : []),
  ["none", said("None")],
];
function overlayOf(opinion, kind) {
  // N: share of the visits, P, Q, V
  const marks = new Map();
  if (kind === "E") {
    // moves to the end, where they are known
    for (const [action, plies] of Object.entries(endings.of(keyOf(shownMoves()))))
      marks.set(Number(action), {
        heat: plies > 0 ? 0.9 : plies < 0 ? -0.9 : 0.2,
        text: plies ? `${plies > 0 ? "+" : "−"}${Math.ceil(Math.abs(plies) / 2)}` : "=",
      });
    return marks;
  }
  const all = opinion && { N: opinion.visits, P: opinion.priors, Q: opinion.q, V: opinion.v }[kind];
  if (!all) return marks;
  const most = Math.max(...all.map((value) => value ?? 0)),
    sum = visitsOf(opinion);
  all.forEach((value, action) => {
    if (value === null || value === undefined || !here().legal.includes(action)) return;
    if (kind === "Q" || kind === "V") {
      if (opinion.visits[action]) marks.set(action, { heat: value, text: signed(value) });
    } else if (Math.round((100 * value) / (kind === "N" ? sum : 1)) >= 1)
      marks.set(action, { heat: value / most, text: Math.round((100 * value) / (kind === "N" ? sum : 1)) });
  });
  return marks;
}
function linesOf(opinion) {
  const lines = new Map();
  if (!opinion) return lines;
  for (const action of bestFirst(opinion).slice(0, SHOWN_MOVES)) {
    const more = opinion.lines?.[action] ?? (opinion.line[0] === action ? opinion.line : [action]);
    lines.set(action, [...more].slice(0, 12));
  }
  return lines;
}
// Moves proven to be worse than the best come last, however many visits they had before.
const bestFirst = (opinion) => {
  const { visits, priors, proven, proof = null } = opinion,
    isWorse = (action) => Number(proof === null ? proven?.[action] === -1 : proven?.[action] !== proof);
  return [...visits.keys()]
    .filter((action) => visits[action])
    .sort((a, b) => isWorse(a) - isWorse(b) || visits[b] - visits[a] || priors[b] - priors[a]);
};

// Who will own each point and who leads by how much, as the page's network expects it, else one of the server.
const territory = {
  can: Boolean(facts.scoredByArea && (facts.ownership || facts.server)),
  found: new WeakMap(), // {position: {owned, lead}, both null where no network has learned it}
  asked: null,
  get here() {
    return this.found.get(here()) ?? (opinionHere()?.owned ? opinionHere() : null);
  },
  async ask() {
    const position = here();
    if (!this.can || this.found.has(position) || this.asked === position || position.over) return;
    this.asked = position;
    await this.of(shownMoves(), position);
    if (this.asked === position) this.asked = null;
    showAnalysis();
  },
  async of(moves, position) {
    const found =
      this.found.get(position) ??
      (facts.ownership ? await engine.call("territory", { moves }) : await this.ofServer(moves));
    if (found) this.found.set(position, found);
    return found;
  },
  async ofServer(moves) {
    distant ??= new ServerEngine();
    distant.setup = table.setup;
    const { opinion } = await distant.search({ moves, sims: 100 });
    return opinion && { owned: opinion.owned ?? null, lead: opinion.lead ?? null };
  },
};
function leadWords({ owned, lead }) {
  if (!owned) return tr("No network here has learned to tell territory.");
  if (Math.abs(lead) < 0.25) return tr("The sides are level.");
  return tr("{side} leads by {points} points.", {
    side: sideName(lead > 0 ? 1 : -1),
    points: Math.abs(lead).toFixed(1),
  });
}

// The value of a position for the side that began, from what was found there; null where nothing was.
function valueAt(one, ply) {
  const position = one.positions[ply];
  if (position?.over) return position.result;
  if (!side && stored.values.has(ply)) return stored.values.get(ply);
  const there = found.get(keyOf(one.moves.slice(0, ply)));
  return there ? there.opinion.value * position.player : null;
}

// ---- the panel

const PROVEN = { 1: said("won"), 0: said("drawn"), "-1": said("lost") };

function foundTable(opinion) {
  const sum = visitsOf(opinion);
  const head = [
    [said("move"), ""],
    [said("Visits"), said("How often the search tried this move. It plays the move that it tried most.")],
    [said("share"), ""],
    [
      said("Q"),
      said("How good the move turned out in the search, for the side to move: +1 is a sure win, -1 a sure loss."),
    ],
    [said("Prior"), said("The network's first guess, before any search: how likely this move is the one to play.")],
    [
      said("Network"),
      said("The network's own value right after this move, without reading on: +1 is a win, -1 a loss."),
    ],
  ];
  const body = bestFirst(opinion)
    .slice(0, SHOWN_MOVES)
    .map((action) => {
      const share = opinion.visits[action] / sum,
        proof = opinion.proven?.[action];
      const bar = h("span.share", { "aria-hidden": "true" });
      bar.style.width = `${Math.max(42 * share, 1)}px`;
      const plies = endings.of(keyOf(shownMoves()))[action],
        known = plies === undefined ? proof : Math.sign(plies);
      const value =
        plies !== undefined
          ? endingWords(plies)
          : proof === null || proof === undefined
            ? signed(opinion.q[action])
            : tr(PROVEN[proof]);
      return h(
        "tr",
        {
          "data-hover": action,
          tabindex: 0,
          "data-key": `row${action}`,
          onclick: () => branch([action]),
          onkeydown: (e) => {
            if (e.key === "Enter") branch([action]);
          },
        },
        h("td", {}, spokenName(action)),
        h("td", {}, number(opinion.visits[action])),
        h("td", {}, bar, shareWords(share)),
        h("td", { class: known > 0 ? "won" : known < 0 ? "lost" : null }, value),
        h("td", {}, shareWords(opinion.priors[action])),
        h("td", {}, signed(opinion.v[action])),
      );
    });
  return h(
    "table.found",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map(([name, why]) => h("th", { scope: "col", title: why ? tr(why) : null }, tr(name))),
      ),
    ),
    h("tbody", {}, body),
  );
}

function analysisCard() {
  const opinion = opinionHere(),
    position = here(),
    parts = [];
  if (position.over)
    return card("analysis", tr("Analyse"), [
      h("p.soft", {}, tr("The game is over.")),
      !side && table.result?.why === "file" ? h("p.soft", {}, howItEnded(table.result)) : null,
    ]);
  parts.push(
    h(
      "div.row",
      {},
      choice(
        tr("numbers on the board"),
        overlayKinds().map(([key, name]) => [key, tr(name)]),
        shows.kind,
        (kind) => {
          shows.wanted = kind;
          kept.set("overlay", kind);
          render();
        },
      ),
    ),
  );
  if (shows.kind === "O")
    parts.push(h("p", { role: "status" }, territory.here ? leadWords(territory.here) : tr("Searching ...")));
  if (!opinion) parts.push(h("p.soft", {}, tr("Searching ...")));
  else {
    const sum = visitsOf(opinion);
    parts.push(foundTable(opinion));
    if (opinion.proof !== null && opinion.proof !== undefined)
      parts.push(
        h(
          "p",
          {},
          tr("The search would play {move}: {result} for certain.", {
            move: inWords(opinion.best),
            result: tr(PROVEN[opinion.proof]),
          }),
        ),
      );
    const values = { side: sideName(position.player), network: signed(opinion.raw), after: signed(opinion.value) };
    const judged = Number.isFinite(opinion.raw)
      ? tr("Value for {side}: network {network}, after the search {after}", values)
      : tr("value for {side} {value}", { side: values.side, value: values.after });
    parts.push(h("p.soft.judged", {}, judged, " · ", tr("{count} simulations", { count: number(sum) })));
    if (opinion.line.length > 1)
      parts.push(
        h(
          "div.main-line",
          {},
          h("span.soft", {}, tr("Main line"), " "),
          opinion.line
            .slice(0, 12)
            .map((action, i) =>
              h(
                "button",
                { "data-key": `line${i}`, onclick: () => branch(opinion.line.slice(0, i + 1)) },
                spokenName(action),
              ),
            ),
        ),
      );
  }
  const busy = searching.key !== null;
  if (facts.server && !table.setup)
    parts.push(
      h(
        "a.versions-link",
        {
          href: `/training?${new URLSearchParams({ game: facts.spec, moves: shownMoves().map(moveName).join(" ") })}`,
        },
        tr("How the versions of a run see this position"),
      ),
    );
  parts.push(
    h(
      "div.row",
      {},
      busy
        ? button(
            "stop",
            tr("Stop"),
            () => {
              stopSearch();
              showAnalysis();
            },
            { key: "stop" },
          )
        : button("deepen", tr("Deepen"), deepen, {
            key: "deepen",
            title: tr("four times as many simulations"),
            off: review.busy,
          }),
      select(
        tr("simulations for each position"),
        BUDGETS.map((sims) => [sims, tr("{count} simulations", { count: number(sims) })]),
        shows.sims,
        (sims) => {
          shows.sims = Number(sims);
          kept.set("sims", sims);
          render();
        },
      ),
      treeSwitch(),
    ),
  );
  return card("analysis", null, parts);
}

// The values over the game, for the side that began: above the middle it leads.
function valueGraph() {
  const one = line(),
    width = 360,
    height = 84,
    count = Math.max(one.moves.length, 1);
  const values = one.positions.map((_, ply) => valueAt(one, ply)),
    x = (ply) => 4 + ((width - 8) * ply) / count,
    y = (value) => height / 2 - value * (height / 2 - 5);
  const known = values.map((value, ply) => [ply, value]).filter(([, value]) => value !== null);
  if (known.length < 2) return null;
  const fork = side ? forkOf() : -1;
  const marks = review.moves
    .slice(0, fork < 0 ? one.moves.length : fork)
    .filter((move) => move?.mark)
    .map(
      (move) =>
        `<circle class="dot ${move.mark}" cx="${x(move.ply + 1)}" cy="${y(values[move.ply + 1] ?? 0)}" r="3.5"/>`,
    );
  const path = known.map(([ply, value]) => `${x(ply).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
  const svg =
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(tr("value over the moves"))}">` +
    `<rect class="ground" width="${width}" height="${height}" rx="6"/>` +
    `<path class="middle" d="M4 ${height / 2}H${width - 4}"/>` +
    `<path class="area" d="M${x(known[0][0])} ${height / 2}L${path}L${x(known.at(-1)[0])} ${height / 2}z"/>` +
    `<path class="curve" d="M${path}"/>` +
    `<path class="here" d="M${x(one.ply)} 2V${height - 2}"/>${marks.join("")}</svg>`;
  const box = h("div.graph", {
    onclick: (e) => {
      const place = box.getBoundingClientRect();
      walk(Math.round((((e.clientX - place.left) / place.width) * width - 4) / ((width - 8) / count)));
    },
  });
  box.innerHTML = svg;
  return box;
}

// ---- review: what each move of the game lost. Values as evaluation/review.py has them.

const MARKS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
const LOSSES = [said("blunder"), said("mistake"), said("inaccuracy")];
const REVIEW_SIMS = 400;

const review = {
  moves: [],
  running: 0,
  done: 0,
  seen: null,
  clear() {
    Object.assign(this, { moves: [], running: 0, done: 0, seen: null });
    endings.stop();
  },
  get busy() {
    return this.running > 0;
  },
  // then: what follows when all moves are judged, else the worst is shown.
  async start(then = null) {
    stopSearch();
    stopThinking();
    side = null;
    this.clear();
    const mine = (this.running = Date.now());
    let whole = false;
    render();
    try {
      whole = await this.judgeAll(mine);
    } finally {
      if (mine === this.running) this.running = 0;
      if (!whole) {
        this.moves = [];
        render();
      }
    }
    if (!whole) return;
    if (then) {
      render();
      then();
      return;
    }
    const own = this.moves.filter((move) => move?.mark && (me() === null || move.player === me()));
    if (own.length) lookAt(own.reduce((worst, move) => (move.loss > worst.loss ? move : worst)));
    else render();
  },
  // Judges all moves, from the end: each value is known when it is needed. Returns whether nothing ended it early.
  async judgeAll(mine) {
    const { moves, positions } = table;
    for (let ply = moves.length; ply >= 0; ply--) {
      if (!positions[ply].over && (found.get(keyOf(moves.slice(0, ply)))?.sims ?? 0) < REVIEW_SIMS) {
        const last = await engine.call("search", { moves: moves.slice(0, ply), sims: REVIEW_SIMS, seconds: 3 });
        if (mine !== this.running || last.stopped) return false;
        remember(moves.slice(0, ply), last.opinion, REVIEW_SIMS);
      }
      if (ply < moves.length) this.moves[ply] = judged(ply);
      this.done = moves.length - ply;
      showAnalysis();
    }
    return true;
  },
  stop() {
    this.running = 0;
    engine.stop();
    render();
  },
};

function accuracyOf(loss) {
  const [scale, steepness, less] = facts.accuracy;
  return Math.min(Math.max(scale * Math.exp(-steepness * loss) - less, 0), 100);
}
function judged(ply) {
  const { moves, positions } = table,
    position = positions[ply],
    { opinion } = found.get(keyOf(moves.slice(0, ply)));
  const sign = positions[ply + 1].player === position.player ? 1 : -1,
    action = moves[ply];
  const after = positions[ply + 1].over
    ? (positions[ply + 1].result ?? 0) * position.player
    : sign * found.get(keyOf(moves.slice(0, ply + 1))).opinion.value;
  const proofs = opinion.proven,
    proof = proofs?.[action] ?? null;
  const won = proofs?.some((one, a) => one === 1 && position.legal.includes(a));
  const best = opinion.best,
    before = best === action ? after : Math.max(won ? 1 : opinion.value, after),
    loss = (before - after) / 2;
  const exact = proof !== null && (won || proof === 1);
  const mark = exact
    ? loss > 0.5
      ? "blunder"
      : loss > 0
        ? "mistake"
        : ""
    : (LOSSES.find((name) => loss >= facts.thresholds[name]) ?? "");
  return {
    ply,
    player: position.player,
    action,
    before,
    after,
    loss,
    exact,
    mark: loss > 0 ? mark : "",
    line: loss > 0 ? opinion.line.slice(0, 8) : [],
    choices: position.legal.length,
    accuracy: accuracyOf(Math.max(loss, 0)),
  };
}

function reviewCard() {
  if (side || table.moves.length < 2 || view !== "analyse") return null;
  if (!review.busy && !review.moves.length)
    return card("review", null, [
      h(
        "div.row",
        {},
        button("eye", tr("Review the game"), () => review.start(), { key: "review", main: true }),
        h("span.soft", {}, tr("what each move lost")),
      ),
    ]);
  const parts = [];
  if (review.busy) {
    parts.push(
      h(
        "p.soft",
        { role: "status" },
        tr("move {done} of {count} ...", { done: review.done, count: table.moves.length }),
      ),
    );
    parts.push(
      h("progress", { max: table.moves.length, value: review.done, "aria-label": tr("Review the game") }),
      button("stop", tr("Stop"), () => review.stop(), { key: "stop-review" }),
    );
    return card("review", tr("review"), parts);
  }
  for (const one of STONES) {
    const own = review.moves.filter((move) => move?.player === one),
      chosen = own.filter((move) => move.choices > 1);
    if (!own.length) continue;
    const mean = chosen.reduce((sum, move) => sum + move.accuracy, 0) / chosen.length;
    const counts = LOSSES.map((name) => [name, own.filter((move) => move.mark === name).length])
      .filter(([, count]) => count)
      .reverse();
    parts.push(
      h(
        "div.accuracy",
        {},
        dot(one),
        h("span", {}, nameOf(one)),
        h("b", {}, chosen.length ? `${Math.round(mean)} %` : "–"),
        h(
          "span.soft",
          {},
          counts.length
            ? counts.map(([name, count]) => tr(count === 1 ? ONE[name] : MANY[name], { count })).join(tr(", "))
            : tr("no mistakes"),
        ),
      ),
    );
  }
  const marked = review.moves.filter((move) => move?.mark).sort((a, b) => b.loss - a.loss);
  if (marked.length)
    parts.push(
      h(
        "div.chips",
        {},
        marked.map((move) =>
          h(
            `button.chip.${move.mark}`,
            {
              "data-key": `chip${move.ply}`,
              "aria-pressed": String(review.seen === move.ply),
              onclick: () => lookAt(move),
            },
            `${move.ply + 1}. ${spokenName(move.action)} ${MARKS[move.mark]}`,
          ),
        ),
      ),
    );
  const move = review.moves[review.seen];
  if (move)
    parts.push(
      h(
        "div.lesson",
        { role: "status" },
        h(
          "p",
          {},
          tr("{number}. {side} played {move}, {mark}: chance to win {before} %, then {after} %.", {
            number: move.ply + 1,
            side: sideName(move.player),
            move: inWords(move.action),
            mark: tr(move.mark),
            before: percent((1 + move.before) / 2),
            after: percent((1 + move.after) / 2),
          }),
        ),
        h("p", {}, h("b", {}, tr("Better: {line}", { line: move.line.map(spokenName).join(" ") }))),
        h(
          "div.row",
          {},
          button("again", tr("Try again from here"), () => tryFrom(move.ply), { key: "try" }),
          button("on", tr("Play the line out"), () => playLine(move), { key: "line" }),
        ),
      ),
    );
  return card("review", tr("Accuracy"), parts);
}
const ONE = { inaccuracy: said("1 inaccuracy"), mistake: said("1 mistake"), blunder: said("1 blunder") };
const MANY = {
  inaccuracy: said("{count} inaccuracies"),
  mistake: said("{count} mistakes"),
  blunder: said("{count} blunders"),
};

// The better line, a move after the other, as a line of the user's own.
async function playLine(move) {
  lookAt(move);
  if (!(await branch(move.line))) return;
  const one = side ?? table,
    last = one.ply;
  for (one.ply = move.ply; one.ply < last;) {
    one.ply++;
    render();
    await new Promise((on) => setTimeout(on, PACE));
    if (view !== "analyse" || line() !== one) return;
  }
}
function lookAt(move) {
  side = null;
  review.seen = move.ply;
  table.ply = move.ply;
  render();
}
// The person plays on from a position of the game, against the opponent who sat there, else the level that is chosen.
const tryFrom = (ply) => askFirst(() => playFrom(ply));
function playFrom(ply) {
  const { player } = table.positions[ply],
    machine = STONES.map((one) => table.seats[one]).find((one) => one !== YOU) ?? fits.level;
  table.seats = { [player]: YOU, [-player]: machine };
  Object.assign(table, {
    moves: table.moves.slice(0, ply),
    positions: table.positions.slice(0, ply + 1),
    ply,
    result: null,
    names: null,
    given: false,
    helped: true,
  });
  ownGame.key = null;
  lastValue.clear();
  review.clear();
  forgetTries();
  clock.left = clock.since = null;
  go("play");
}
