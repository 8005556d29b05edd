// The game on the table: its moves and positions, who sits at it, its clock and its end. A side is 1 (begins) or -1.

const YOU = "you"; // a person; a machine is the number of its level
// a game that the page has no engine for is searched by the server (views/server.js)
const engine = facts.engine === "server" ? new ServerEngine() : new Engine();
// Opponents, weakest first; where none was measured, the network alone and with a search of the named simulations.
const levels = facts.levels?.length
  ? facts.levels
  : [
      [0, 1],
      [0, 0],
      [50, 0],
      [200, 0],
      [800, 0],
    ].map(([sims, temperature], i) => ({
      name: ["Novice", "Casual", "Strong", "Expert", "Master"][i],
      elo: null,
      sims,
      temperature,
    }));
const rungs = levels.length; // those that "fits me" climbs
// A seat as the browser keeps it, and back: where an opponent stands in the list changes. null: it is not there any more.
const keptSeat = (seat) => (seat === YOU ? YOU : (levels[seat].player ?? levels[seat].name));
function seatOf(name) {
  if (name === YOU) return YOU;
  const at = /^\d+$/.test(name) ? Number(name) : levels.findIndex((level) => (level.player ?? level.name) === name);
  return at >= 0 && at < levels.length ? at : null;
}
const keptSeats = ({ seats }) => ({ 1: keptSeat(seats[1]), "-1": keptSeat(seats[-1]) });
// Returns {side: seat} of seats that were kept; null if somebody is missing.
function seatsOf(names) {
  const seats = { 1: seatOf(names?.[1]), "-1": seatOf(names?.[-1]) };
  return seats[1] === null || seats[-1] === null ? null : seats;
}

// Other players play with a budget that the person types as players' names have it: a number of what they count, or
// seconds with an s. takes: {sims, plies or seconds: [least, most]}.
const BUDGETS_IN_WORDS = {
  sims: said("{least} to {most} simulations"),
  plies: said("{least} to {most} plies"),
  seconds: said("{least} to {most} seconds, such as 2s"),
};
const budgetWords = ({ takes }) =>
  Object.entries(takes)
    .map(([unit, [least, most]]) => {
      const [low, high] = [least, most].map((value) => value.toLocaleString(language));
      return tr(BUDGETS_IN_WORDS[unit], { least: low, most: high });
    })
    .join(tr(", or "));
function setBudget(level, text) {
  const [, digits, second] = /^(\d{1,8}(?:\.\d{1,2})?)\s*(s?)$/i.exec(text.trim()) ?? [],
    unit = second ? "seconds" : Object.keys(level.takes)[0],
    value = Number(digits),
    [least, most] = level.takes[unit] ?? [1, 0];
  if (!(value >= least && value <= most) || (unit !== "seconds" && !Number.isInteger(value)))
    throw new Fault(tr("Expected {forms}; got {text}.", { forms: budgetWords(level), text: text.slice(0, 12) || "–" }));
  Object.assign(level, { sims: null, plies: null, seconds: null, [unit]: value });
  level.budget = `${value}${second ? "s" : ""}`;
}
const budgetKey = (level) => `budget:${facts.spec}:${level.player ?? level.name}`;
// Returns a player with the budget that was typed last, else the usual one.
function withBudget(level, usual) {
  if (!level.takes) return level;
  try {
    setBudget(level, kept.get(budgetKey(level)) ?? usual);
  } catch {
    setBudget(level, usual);
  }
  return level;
}
const MOST_SECONDS = 60;
if (facts.engine !== "server") {
  const takes = {
    get sims() {
      return [1, engine.most];
    },
    seconds: [0.01, MOST_SECONDS],
  };
  levels.push(withBudget({ name: said("The network of this page"), takes, elo: null, listed: true }, "400"));
}

const table = {
  moves: [],
  positions: [facts.start],
  ply: 0,
  result: null, // {winner: 1, 0 or -1, why: "rules", "resigned", "late" or "file"; stated: a file's words}
  seats: { 1: YOU, "-1": Math.min(1, rungs - 1) },
  asks: false, // whether an opponent is being chosen although the game has begun
  names: null, // of the players of a game from a file
  given: false, // {komi}, see records.js, of a game from a file or a link on which nobody has played on
  setup: null, // {cells, player} of the first position, where it was set up
  helped: false, // a move taken back, a hint or analysis: "fits me" does not count such a game
  thinking: false,
  turn: 0, // grows whenever what the machine thinks about is over
};
let side = null; // in Analyse: a line of the user's that leaves the game, {moves, positions, ply}
let tries = []; // all such lines of this game, to which one can return
let view = "play";
const line = () => side ?? table;
const here = () => line().positions[line().ply];
const ending = (one = table) => one.positions[one.positions.length - 1];
const people = () => STONES.filter((one) => table.seats[one] === YOU);
const friends = () => people().length === 2;
const me = () => (people().length === 1 ? people()[0] : null);

// ---- opponents

const fits = {
  on: kept.get(`opponent:${facts.spec}`) === "fits",
  get level() {
    const found = Number.parseInt(kept.get(`fits:${facts.spec}`) ?? "1", 10);
    return Math.min(Math.max(Number.isNaN(found) ? 1 : found, 0), rungs - 1);
  },
  ended(won) {
    // one step up after a game won, one down after a game lost
    if (!this.on || table.helped || me() === null) return;
    kept.set(`fits:${facts.spec}`, Math.min(Math.max(this.level + Math.sign(won), 0), rungs - 1));
  },
};
let order = ["first", "second", "lot"].includes(kept.get("order")) ? kept.get("order") : "first";

const nameOf = (one) => {
  const seat = table.seats[one];
  if (table.names?.[one === 1 ? 0 : 1]) return table.names[one === 1 ? 0 : 1];
  if (seat === YOU) return me() === null ? sideName(one) : tr("You");
  return levels[seat].label ?? tr(levels[seat].name);
};
function howItPlays({ sims, plies, seconds, player }) {
  if (seconds) return tr("{seconds} s a move", { seconds });
  if (plies) return tr("{count} plies", { count: plies });
  if (sims) return tr("{count} simulations", { count: number(sims) });
  return player ? tr("on the server") : tr("the network alone");
}
const strength = (level) =>
  Number.isFinite(level.elo) ? `Elo ${number(level.elo)}`.replace("-", "−") : howItPlays(level);

// ---- the clock

const clock = {
  form: /^\d{1,2}\+\d{1,2}$/.test(kept.get("clock") ?? "") ? kept.get("clock") : "", // "minutes+seconds"; "" for none
  left: null,
  since: null,
  side: null,
  start() {
    const [minutes, added] = this.form.split("+").map(Number);
    this.left = this.form ? { 1: 60 * minutes, "-1": 60 * minutes } : null;
    this.added = added;
    this.since = null;
  },
  now(one) {
    const spent = this.since !== null && this.side === one ? (performance.now() - this.since) / 1000 : 0;
    return Math.max(this.left[one] - spent, 0);
  },
  stop() {
    if (this.since === null) return;
    this.left[this.side] = this.now(this.side);
    this.since = null;
  },
  press(moved, next) {
    // runs from the second move on
    if (!this.left) return;
    const ran = this.since !== null;
    this.stop();
    if (ran && moved) this.left[moved] += this.added;
    if (next === null || !table.moves.length) return;
    this.side = next;
    this.since = performance.now();
  },
};
setInterval(() => {
  if (clock.since === null) return;
  if (clock.now(clock.side) > 0) {
    showClocks();
    return;
  }
  clock.stop();
  clock.left[clock.side] = 0;
  finish({ winner: -clock.side, why: "late" });
}, 100);

// ---- playing

// rematch: with sides changed; keep: from the position that was set up, if one was.
function newGame({ rematch = false, keep = rematch } = {}) {
  stopThinking();
  const one = me(),
    opponent = fits.on ? fits.level : STONES.map((side) => table.seats[side]).find((seat) => seat !== YOU);
  if (order === "watch" && opponent !== undefined) table.seats = { 1: opponent, "-1": opponent };
  else if (one !== null || opponent !== undefined) {
    const machine = opponent,
      now = one ?? 1;
    const mine = rematch ? -now : sideToTake();
    if (rematch && order !== "lot") order = mine === 1 ? "first" : "second";
    table.seats = { [mine]: YOU, [-mine]: machine };
  }
  Object.assign(table, {
    moves: [],
    positions: [table.setup ? table.positions[0] : facts.start],
    ply: 0,
    result: null,
    names: null,
    given: false,
    helped: false,
  });
  if (!keep && table.setup) clearSetup();
  forgetTries();
  review.clear();
  clock.start();
  ownGame.key = null;
  stored.values.clear();
  lastValue.clear();
  render();
  machineMoves();
}
const sideToTake = () => (order === "lot" ? (Math.random() < 0.5 ? 1 : -1) : order === "second" ? -1 : 1);
function forgetTries() {
  side = null;
  tries = [];
}
async function clearSetup() {
  table.setup = null;
  table.positions = [facts.start];
  found.clear();
  endings.found.clear();
  await engine.call("setUp", { cells: null, player: 1 });
}

// Seats an opponent: a level's number, "fits" or "friend".
function seat(choice) {
  fits.on = choice === "fits";
  const mine = me() ?? (order === "second" ? -1 : 1);
  table.seats = choice === "friend" ? { 1: YOU, "-1": YOU } : { [mine]: YOU, [-mine]: fits.on ? fits.level : choice };
  if (choice === "friend" && order === "watch") order = "first";
  kept.set(`opponent:${facts.spec}`, Number.isInteger(choice) ? keptSeat(choice) : choice);
  newGame({ keep: true });
}
function seatRemembered() {
  const found = kept.get(`opponent:${facts.spec}`),
    level = seatOf(found),
    mine = sideToTake();
  if (found === "friend") table.seats = { 1: YOU, "-1": YOU };
  else
    table.seats = {
      [mine]: YOU,
      [-mine]:
        found === "fits" ? fits.level : (level ?? Math.min(1, rungs - 1)),
    };
}

function stopThinking() {
  message = "";
  table.turn++;
  table.thinking = false;
  engine.stop();
  distant?.stop();
}
let distant = null; // the engine of players that only the server has
const playerOf = (level) => (level.player && facts.engine !== "server" ? (distant ??= new ServerEngine()) : engine);

// Plays a move of a person on the board that is shown: one after the other, so that no click is lost.
let playing = Promise.resolve();
let judging = false;
function played(action) {
  if (judging) return playing;
  const clicked = view;
  playing = playing.then(() => view === clicked && playNow(action)).catch(failed);
  return playing;
}
async function playNow(action) {
  if (view !== "play") {
    await branch([action]);
    return;
  }
  if (table.result || table.thinking) return;
  if (table.ply < table.moves.length) {
    walk(table.moves.length);
    return;
  }
  if (table.seats[here().player] !== YOU) return;
  if (pointOfAction(action) < 0 && facts.scored && !counting.can && !(await endConfirmed(action))) return;
  if (!(await letThrough(action))) return;
  teacher.held = null;
  const begun = table.moves.length;
  await commit(action);
  if (table.moves.length > begun) machineMoves();
}
// A pass that ends the game: both sides see what would be counted first.
async function endConfirmed(action) {
  const { positions, illegal } = await engine.call("follow", { moves: [...table.moves, action] });
  const [end] = positions;
  if (illegal !== null || !end?.over || !end.score) return true;
  return new Promise((answer) => {
    const box = ask(tr("End the game?"), OTHER_MOVES[moveName(action)]?.() ?? moveName(action), () => answer(true), {
      more: tr("Then these points count. Take dead stones off the board first: all that stands is alive."),
      parts: [
        facts.drawing && picture(facts.drawing, ownersOf(end)),
        h(
          "p.centre",
          {},
          h(
            "b",
            {},
            STONES.map((one) =>
              tr("{side}: {points} points", { side: sideName(one), points: pointsOf(end, one) }),
            ).join(tr(", ")),
          ),
        ),
      ],
    });
    box.addEventListener("close", () => answer(false));
  });
}
const ownersOf = (end) => [...(end.owners ?? end.cells)].map((cell) => (isStone(cell) ? cell : 0));

// What a person's last move lost, where that is wanted.
const lastValue = {
  get on() {
    return kept.get("last-value") === "on";
  },
  ply: -1,
  action: null,
  loss: 0,
  get shows() {
    return this.on && table.moves[this.ply - 1] === this.action; // and was not held by the teacher
  },
  clear() {
    Object.assign(this, { ply: -1, action: null });
  },
};
// The teacher holds a move that loses value, before it is played.
const teacher = {
  get on() {
    return kept.get("teacher") === "on";
  },
  held: null, // {action, text} of a move that was held; the same move again plays it
};
// What a move loses of the chance to win, by searches of the position before it and after it; {loss, before, reply}, or
// null where that was stopped.
async function lossOf(action) {
  const { moves } = table,
    turn = table.turn,
    one = here();
  const search = (more) => engine.call("search", { moves: [...moves, ...more], sims: 200, seconds: 2 });
  const before = await search([]);
  if (before.stopped || turn !== table.turn) return null;
  if (before.opinion.best === action) return { loss: 0, best: action, line: [] };
  const { positions, illegal } = await engine.call("follow", { moves: [...moves, action] });
  if (illegal !== null || turn !== table.turn) return null;
  const [next] = positions;
  let value = (next.result ?? 0) * one.player,
    line = [];
  if (!next.over) {
    const after = await search([action]);
    if (after.stopped || turn !== table.turn) return null;
    value = after.opinion.value * next.player * one.player;
    line = after.opinion.line.slice(0, 3);
  }
  return { loss: Math.max((before.opinion.value - value) / 2, 0), best: before.opinion.best, line };
}
// Whether a move may be played: the teacher lets it, or nobody judges. What it lost is kept for the board.
async function letThrough(action) {
  if ((!teacher.on && !lastValue.on) || clock.left || table.seats[-here().player] === YOU) return true;
  if (teacher.held?.action === action && teacher.held.ply === table.ply) return true;
  teacher.held = null;
  tell(tr("Searching ..."));
  judging = true;
  const judged = await lossOf(action).finally(() => (judging = false));
  message = "";
  if (!judged) return false;
  Object.assign(lastValue, { ply: table.moves.length + 1, action, loss: judged.loss });
  if (!teacher.on || judged.loss < facts.thresholds.mistake) return true;
  const reply = judged.line.map(spokenName).join(" "),
    values = { move: inWords(action), loss: Math.round(100 * judged.loss), reply };
  teacher.held = { action, ply: table.ply, best: judged.best };
  table.helped = true;
  tell(
    reply
      ? tr("{move} loses {loss} % of the chance to win: the reply is {reply}.", values)
      : tr("{move} loses {loss} % of the chance to win.", values),
  );
  render();
  return false;
}
const lossMark = (loss) => LOSSES.find((name) => loss >= facts.thresholds[name]) ?? "";

async function commit(action) {
  const turn = ++table.turn,
    moved = ending().player;
  hinted = null;
  message = "";
  engine.stop();
  const { positions, illegal } = await engine.call("follow", { moves: [...table.moves, action] });
  if (turn !== table.turn) return;
  if (illegal !== null) {
    tell(tr("illegal move {move}", { move: moveName(action) }));
    return;
  }
  review.clear();
  tries = [];
  table.moves.push(action);
  table.positions.push(positions[positions.length - 1]);
  table.ply = table.moves.length;
  sayings.textContent = tr("Move {number}: {player} played {move}.", {
    number: table.ply,
    player: nameOf(moved),
    move: spokenName(action),
  });
  if (table.seats[moved] === YOU) table.asks = false;
  Object.assign(table, { names: null, given: false }); // those of a file, until somebody plays on
  const counts = ending().over && (await counting.begins());
  if (turn !== table.turn) return;
  if (ending().over && !counts) finish({ winner: ending().result, why: "rules" });
  else {
    clock.press(moved, counts ? null : ending().player);
    render();
  }
}

async function machineMoves() {
  const { player, over } = ending();
  if (table.result || over || table.seats[player] === YOU || !["play", "analyse"].includes(view)) return;
  const turn = ++table.turn,
    index = table.seats[player],
    level = levels[index],
    settings = level.takes ? null : index, // of the search: those that a level was measured with
    searches = Boolean(level.sims || level.seconds),
    begun = performance.now();
  table.thinking = true;
  if (clock.since === null && table.moves.length) clock.press(null, player);
  render();
  let found;
  try {
    const thinker = playerOf(level);
    if (thinker === distant) distant.setup = table.setup;
    found = await thinker.call("search", {
      moves: table.moves,
      sims: level.seconds || level.plies ? null : level.sims || 1,
      seconds: level.seconds ?? undefined,
      plies: level.plies ?? null,
      level: settings,
      choose: { temperature: level.temperature ?? 0, slips: level.slips ?? 0, plain: !searches, level: settings },
      player: level.player ?? null,
    });
  } catch (error) {
    failed(error);
    return;
  }
  const wait = 450 - (performance.now() - begun);
  if (wait > 0) await new Promise((go) => setTimeout(go, wait));
  if (turn !== table.turn || found.stopped) return;
  table.thinking = false;
  const count = table.moves.length;
  await commit(found.action);
  if (table.moves.length > count) machineMoves();
}

function finish(result) {
  if (table.result) return;
  stopThinking();
  clock.press(null, null);
  const before = me();
  table.result = result;
  table.ply = table.moves.length;
  if (before !== null) fits.ended(result.winner * before);
  render();
}

function takeBack() {
  if (!canTakeBack()) return;
  stopThinking();
  review.clear();
  hinted = null;
  const mine = me();
  do {
    table.moves.pop();
    table.positions.pop();
  } while (mine !== null && ending().player !== mine);
  Object.assign(table, { ply: table.moves.length, result: null, given: false, helped: true });
  lastValue.clear();
  clock.press(null, ending().player);
  render();
}
const canTakeBack = () =>
  table.result?.why !== "late" && table.moves.some((_, i) => table.seats[table.positions[i].player] === YOU);

function resign() {
  const loser = me() ?? ending().player;
  finish({ winner: -loser, why: "resigned" });
}

const canHint = () =>
  !table.result &&
  !table.thinking &&
  table.ply === table.moves.length &&
  !here().over &&
  table.seats[here().player] === YOU;
let hinted = null; // the action of a hint on the board that is shown
async function giveHint() {
  const turn = ++table.turn;
  table.helped = true;
  engine.stop();
  tell(tr("Searching ..."));
  const { opinion, stopped } = await engine.call("search", { moves: table.moves, sims: 400, seconds: 2 });
  const past = () => turn !== table.turn || table.ply !== table.moves.length;
  if (stopped || past()) return;
  const { positions } = await engine.call("follow", { moves: [...table.moves, opinion.best] });
  if (past()) return;
  hinted = opinion.best;
  const why = reasonOf(here(), positions[0], opinion.best, opinion),
    move = inWords(opinion.best);
  tell(why ? tr("Try {move}: {why}.", { move, why }) : tr("Try {move}.", { move }));
  render();
}

// ---- walking, and the user's own lines in Analyse

function walk(ply) {
  const one = line(),
    to = Math.min(Math.max(ply, 0), one.moves.length);
  if (to === one.ply) return;
  one.ply = to;
  message = "";
  hinted = null;
  render();
}

// Plays moves from the position that is shown, in Analyse: along the line where they are its own, else as a new one.
// Returns whether they were played: not where something else was shown before the engine had answered.
async function branch(actions) {
  const one = line(),
    moves = one.moves.slice(0, one.ply);
  if (actions.every((action, i) => one.moves[one.ply + i] === action)) {
    walk(one.ply + actions.length);
    return true;
  }
  const shown = [view, one, here()];
  stopSearch(); // which the engine would end first
  const { positions, illegal } = await engine.call("follow", {
    moves: [...moves, ...actions],
    from: moves.length + 1,
  });
  if (![view, line(), here()].every((part, i) => part === shown[i])) return false;
  if (illegal !== null && illegal <= moves.length) {
    tell(tr("illegal move {move}", { move: moveName(actions[0]) }));
    render();
    return false;
  }
  const more = actions.slice(0, positions.length);
  side = {
    moves: [...moves, ...more],
    positions: [...one.positions.slice(0, moves.length + 1), ...positions],
    ply: moves.length + more.length,
  };
  keepTry();
  render();
  return true;
}
const MOST_TRIES = 40;
const begins = (line, moves) => moves.every((action, i) => line[i] === action);
// Keeps the line of the user's; a line that it continues is replaced, one that it repeats stays.
function keepTry() {
  const longer = tries.find((one) => begins(one.moves, side.moves));
  if (longer) {
    side = Object.assign(longer, { ply: side.ply });
    return;
  }
  const at = tries.findIndex((one) => begins(side.moves, one.moves));
  if (at >= 0) tries[at] = side;
  else tries = [...tries, side].slice(-MOST_TRIES);
}
// The lines as a tree: each with the place where it leaves the game or a line before it, and how deep it lies.
function tryTree() {
  const common = (one, other) => {
    let count = 0;
    while (count < one.length && one[count] === other[count]) count++;
    return count;
  };
  const found = [];
  for (const one of tries) {
    let fork = common(one.moves, table.moves),
      depth = 0;
    for (const before of found) {
      const shared = common(one.moves, before.one.moves);
      if (shared > fork) [fork, depth] = [shared, before.depth + 1];
    }
    found.push({ one, fork, depth });
  }
  // a line stands after the one that it leaves
  return found.sort((a, b) => compareLines(a.one.moves, b.one.moves));
}
function compareLines(one, other) {
  for (let i = 0; i < Math.min(one.length, other.length); i++) if (one[i] !== other[i]) return one[i] - other[i];
  return one.length - other.length;
}
function returnTo(one, ply) {
  side = one;
  side.ply = ply;
  message = "";
  render();
}
function dropTry(one) {
  tries = tries.filter((each) => each !== one);
  if (side === one) backToGame();
  else render();
}
const forkOf = () => side.moves.findIndex((action, i) => action !== table.moves[i]);
function backToGame() {
  const fork = forkOf();
  side = null;
  table.ply = fork < 0 ? table.ply : fork;
  render();
}

// Puts a game from elsewhere on the table; every move is played by the rules, or nothing changes.
async function open(record, ply = record.moves.length) {
  try {
    await put(record, ply);
  } catch (error) {
    if (view === "play") machineMoves();
    throw error;
  }
}
async function put(record, ply) {
  stopThinking();
  const before = table.setup;
  let start = facts.start;
  if (record.setup) {
    start = facts.setsUp ? await engine.call("setUp", record.setup) : null;
    if (!start) {
      await restore(before);
      throw new Fault(tr("There is no such position in this game."));
    }
  } else if (before) await engine.call("setUp", { cells: null, player: 1 });
  const { positions, illegal } = await engine.call("follow", { moves: record.moves, from: 0 });
  const wrong = illegal ?? (record.colours ?? []).findIndex((colour, i) => colour !== positions[i].player);
  if (illegal !== null || wrong >= 0) {
    await restore(before);
    if (positions[wrong]?.over) throw new Fault(tr("The game is over after move {number}.", { number: wrong }));
    throw new Fault(
      tr("Move {number}: {move} is not legal there.", { number: wrong + 1, move: moveName(record.moves[wrong]) }),
    );
  }
  clock.left = clock.since = null;
  Object.assign(table, {
    moves: [...record.moves],
    positions,
    ply,
    result: resultOf(record, positions[positions.length - 1]),
    setup: record.setup ?? null,
    names: record.players.some(Boolean) ? record.players : null,
    given: { komi: record.komi ?? "" },
    helped: true,
    asks: false,
  });
  ownGame.key = null;
  stored.values.clear();
  lastValue.clear();
  forgetTries();
  if (before || record.setup) {
    found.clear();
    endings.found.clear();
  }
  side = null;
  hinted = null;
  review.clear();
}
// After a record was refused, the engine begins as the view that is shown does.
const restore = (setup) =>
  engine.call("setUp", (!fromStart(view) && setup) || { cells: null, player: 1 }).catch(() => null);

const record = () => ({
  moves: line().moves,
  result: side ? null : (table.result?.winner ?? null),
  stated: side ? "" : (table.result?.stated ?? ""),
  komi: side ? "" : table.given.komi,
  late: table.result?.why === "late",
  setup: table.setup,
  players: STONES.map((one) => (table.seats[one] === YOU && !table.names ? "you" : nameOf(one))),
  date: new Date().toISOString().slice(0, 10),
});

// ---- how it ended

function headline({ winner }) {
  if (!winner) return tr("A draw.");
  if (me() !== null && !table.names) return winner === me() ? tr("You win.") : tr("You lose.");
  return tr("{side} wins.", { side: sideName(winner) });
}
function howItEnded({ winner, why, stated }) {
  if (why === "file" && ending().over) return statedWords(stated);
  if (why === "file") return tr("So says the file.");
  const loser = sideName(-winner),
    won = sideName(winner || 1),
    end = ending();
  if (why === "late") return tr("{side} has no time left.", { side: loser });
  if (why === "resigned") return tr("{side} resigned.", { side: loser });
  if (winner && facts.look === "hexagons")
    return tr("{side} has joined the two edges of that colour.", { side: won });
  if (winner && winningLines(end).length)
    return tr("{side}: {count} in a row.", { side: won, count: facts.winningLine });
  if (!winner && facts.winningLine) return tr("Nobody has {count} in a row.", { count: facts.winningLine });
  if (facts.scored && end.score)
    return STONES.map((one) =>
      tr("{side}: {points} points", { side: sideName(one), points: pointsOf(end, one) }),
    ).join(", ");
  return "";
}
// A result that a file states although the rules say another.
function statedWords(stated) {
  const ours = resultText(ending().result, ending()),
    kept = tr("The file says {stated}, which is kept; by the rules here it is {ours}.", { stated, ours });
  return facts.scoredByArea
    ? sentences(kept, tr("Stones that the players took as dead count as alive here."))
    : kept;
}
const pointsOf = (position, one) => Number(position.score[one === 1 ? 0 : 1]).toLocaleString(language);
