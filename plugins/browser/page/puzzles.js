// Puzzles: positions with one right move, hints in three steps, a wrong move refuted on the board. Each puzzle holds
// all that it takes (evaluation/puzzles.py), so nothing searches here.

const CLEAN = 1,
  HELPED = 2;
const STATES = {
  [CLEAN]: ["clean", said("solved alone")],
  [HELPED]: ["helped", said("solved with help")],
  0: ["open", said("not solved")],
};
const AREAS = [
  [said("the top left"), said("the top"), said("the top right")],
  [said("the left"), said("the centre"), said("the right")],
  [said("the bottom left"), said("the bottom"), said("the bottom right")],
];
const named = (text) =>
  text
    .split(" ")
    .filter(Boolean)
    .map((name) => actionOf.get(name.toLowerCase()));
const puzzleLine = (moves) => moves.map(spokenName).join(" ");

// What the browser keeps of this game under a name: {} where that is nothing, or nothing of ours.
function ofEach(name) {
  try {
    return JSON.parse(kept.get(name)) ?? {};
  } catch {
    return {};
  }
}
const ofGame = (name) => ofEach(name)[facts.spec] ?? {};
const keepOfGame = (name, found) => kept.set(name, JSON.stringify({ ...ofEach(name), [facts.spec]: found }));

// The solver's rating: Elo against the puzzles, each of which counts once, at its first wrong move, hint or solution. A
// puzzle is as strong as the share of weak programs that missed it says; AVERAGE is what these programs have.
const AVERAGE = 1200,
  RATED_FROM = 5;
function strengthOf({ missed }) {
  const share = Math.min(Math.max(missed, 0.05), 0.95);
  return AVERAGE + 400 * Math.log10(share / (1 - share));
}
function rated({ rating, tried }, puzzle, solved) {
  const expected = 1 / (1 + 10 ** ((strengthOf(puzzle) - rating) / 400)),
    step = Math.max(64 / (1 + tried.length / 8), 16);
  return { rating: rating + step * (Number(solved) - expected), tried: [...tried, puzzle.number] };
}

const puzzles = {
  all: (facts.puzzles ?? []).map((one, i) => ({
    ...one,
    number: i + 1,
    moves: named(one.moves),
    line: named(one.line),
    wrong: one.wrong.map((step) =>
      step.map(([outcome, reply, moves]) => ({ outcome, line: named(reply), moves: named(moves) })),
    ),
  })),
  level: "",
  one: null,
  moves: [],
  positions: [],
  errors: 0,
  hints: 0,
  helped: false,
  refuted: null,
  note: "",
  shown: false,
  get solved() {
    return this.one !== null && this.moves.length - this.one.moves.length >= this.one.asked;
  },
  get over() {
    return this.solved || this.shown;
  },
  get position() {
    return this.positions[this.positions.length - 1] ?? facts.start;
  },
  get wanted() {
    return this.one?.line[this.moves.length - this.one.moves.length];
  },
  get list() {
    return this.all.filter((one) => !this.level || one.level === this.level); // none of YOURS
  },
  get done() {
    return ofGame("puzzles");
  },
  keep(kind) {
    const solved = { ...this.done };
    solved[this.one.number] = Math.min(kind, Number(solved[this.one.number]) || kind);
    keepOfGame("puzzles", solved);
  },
  get solver() {
    const { rating, tried } = ofGame("solver");
    return Number.isFinite(rating) && Array.isArray(tried) ? { rating, tried } : { rating: AVERAGE, tried: [] };
  },
  rate(solved) {
    const { solver, one } = this;
    if (!solver.tried.includes(one.number) && !this.done[one.number]) keepOfGame("solver", rated(solver, one, solved));
  },
  async open(one) {
    const { positions, illegal } = await engine.call("follow", { moves: one.moves });
    if (illegal !== null) return;
    Object.assign(this, {
      one,
      moves: [...one.moves],
      positions,
      errors: 0,
      hints: 0,
      helped: false,
      refuted: null,
      shown: false,
      note: "",
    });
    render();
  },
  next() {
    const open = this.list.filter((one) => !this.done[one.number]),
      after = (list) => list.find((one) => one.number > (this.one?.number ?? 0)) ?? list[0];
    const one = after(open) ?? after(this.list);
    if (one) this.open(one);
  },
  async play(actions) {
    const { positions } = await engine.call("follow", {
      moves: [...this.moves, ...actions],
      from: this.moves.length + 1,
    });
    this.moves.push(...actions);
    this.positions.push(...positions);
  },
  async answer(action) {
    if (!this.one || this.over) return;
    const { one } = this,
      step = this.moves.length - one.moves.length,
      last = step + 1 === one.line.length;
    const { positions, illegal } = await engine.call("follow", { moves: [...this.moves, action] });
    if (illegal !== null) return;
    const after = positions[0],
      wins = after.over && after.result === this.position.player;
    if (action !== this.wanted && !(wins && last)) {
      this.errors++;
      this.rate(false);
      const all = one.wrong[step / 2] ?? [],
        answer = all.find((r) => r.moves.includes(action)) ?? all.find((r) => !r.moves.length);
      this.refuted = { action, line: [action, ...(answer?.line ?? [])] };
      this.note = wrongMove(spokenName(action), answer);
      render();
      return;
    }
    this.refuted = null;
    this.hints = 0;
    await this.play([action]);
    if (this.solved || after.over) {
      this.shown = !this.solved;
      this.rate(!this.errors && !this.helped);
      this.keep(this.errors || this.helped ? HELPED : CLEAN);
      const rest = one.line.slice(one.asked);
      this.note = rest.length ? tr("Solved. Best play goes on {line}.", { line: puzzleLine(rest) }) : tr("Solved.");
    } else {
      const reply = this.wanted;
      await this.play([reply]);
      this.note = tr("Right. The reply is {move}; and now?", { move: spokenName(reply) });
    }
    render();
  },
  hint() {
    this.rate(false);
    this.helped = true;
    this.hints = Math.min(this.hints + 1, 3);
    this.refuted = null;
    this.note = hintText(this, this.hints);
    render();
  },
  async solution() {
    this.rate(false);
    this.helped = this.shown = true;
    this.refuted = null;
    const rest = this.one.line.slice(this.moves.length - this.one.moves.length);
    this.note = tr("The solution: {line}.", { line: puzzleLine(rest) });
    this.keep(HELPED);
    render();
  },
};

function hintText({ one, moves, wanted }, step) {
  const fast = one.kind === "win" || one.kind === "fast",
    left = Math.floor((one.plies - (moves.length - one.moves.length) + 1) / 2);
  if (step === 1 && fast)
    return left === 1 ? tr("It wins at once.") : tr("There is a win in {count} moves.", { count: left });
  if (step === 1)
    return one.kind === "only"
      ? tr("The win takes a while; every other move gives it away.")
      : tr("Every other move loses.");
  if (step === 3) return tr("The move is {move}.", { move: inWords(wanted) });
  if (facts.layout === "columns")
    return tr("Look at the columns {first} to {last}.", {
      first: moveName(Math.max(wanted - 1, 0)),
      last: moveName(Math.min(wanted + 1, columns - 1)),
    });
  const point = pointOfAction(wanted);
  return point < 0
    ? tr("It is no point of the board.")
    : tr("Look here: {area}.", { area: tr(AREAS[areaOf(point)[0]][areaOf(point)[1]]) });
}
const areaOf = (point) => [
  Math.floor((3 * Math.floor(point / columns)) / rows),
  Math.floor((3 * (point % columns)) / columns),
];
function hintArea({ hints, wanted }) {
  // the points that the second hint is about
  const all = [...Array(rows * columns).keys()];
  if (hints !== 2) return [];
  if (facts.layout === "columns") return all.filter((p) => Math.abs((p % columns) - wanted) <= 1);
  return pointOfAction(wanted) < 0
    ? []
    : all.filter((p) => String(areaOf(p)) === String(areaOf(pointOfAction(wanted))));
}
function wrongMove(move, answer) {
  if (!answer) return tr("{move} is not it.", { move });
  const line = puzzleLine(answer.line);
  if (answer.outcome === "loses")
    return line ? tr("{move} loses: the reply is {line}.", { move, line }) : tr("{move} loses.", { move });
  if (answer.outcome === "draws")
    return line ? tr("{move} only draws: the reply is {line}.", { move, line }) : tr("{move} draws.", { move });
  if (answer.outcome === "slow") return tr("{move} does not win at once; another move does.", { move });
  return line
    ? tr("{move} lets the win slip: the reply {line} holds.", { move, line })
    : tr("{move} lets the win slip.", { move });
}
function task({ one, position, over, solved }) {
  if (over) return solved ? tr("Solved.") : tr("The solution");
  const values = { side: sideName(position.player) };
  if (one.kind === "draw") return tr("{side} to move: one move saves the draw. Which?", values);
  if (one.kind === "fast") return tr("{side} to move: one move wins by force. Which?", values);
  return tr("{side} to move: one move wins. Which?", values);
}

function puzzleView() {
  // what the board shows
  const { one, position, positions, over, refuted, hints, wanted, shown, solved } = puzzles;
  const rest = one && (shown || solved) ? one.line.slice(puzzles.moves.length - one.moves.length) : [];
  const lines = refuted
    ? new Map([[refuted.action, refuted.line]])
    : rest.length
      ? new Map([[rest[0], rest]])
      : new Map();
  return {
    position,
    before: positions[positions.length - 2],
    clickable: Boolean(one) && !over,
    at: `puzzle${one?.number} ${puzzles.moves.length}`,
    lines,
    shown: refuted?.action ?? rest[0],
    hint: one && !over && hints === 3 ? wanted : null,
    area: one && !over ? hintArea(puzzles) : [],
  };
}

const YOURS = "yours"; // the level of the mistakes that the browser keeps
function puzzleCard() {
  const { done, solver } = puzzles,
    { rating, tried } = solver,
    own = puzzles.level === YOURS,
    count = (kind) => puzzles.all.filter((each) => done[each.number] === kind).length;
  const kinds = [
    ...(puzzles.all.length ? [["", tr("all")]] : []),
    ...[said("easy"), said("medium"), said("hard")]
      .filter((level) => puzzles.all.some((each) => each.level === level))
      .map((level) => [level, tr(level)]),
    ...(mistakes.all.length ? [[YOURS, tr("from your games")]] : []),
  ];
  return card("puzzles", tr("Puzzles"), [
    h(
      "div.row",
      {},
      choice(tr("level"), kinds, puzzles.level, (level) => {
        puzzles.level = level;
        if (level === YOURS) {
          const all = mistakes.all,
            first = all.findIndex((one) => !one.solved);
          learn.open(all, Math.max(first, 0), "puzzles");
          return;
        }
        puzzles.next();
        render();
      }),
    ),
    own
      ? null
      : h(
          "p.soft",
          {},
          tr("{clean} solved alone, {helped} with help", { clean: count(CLEAN), helped: count(HELPED) }),
        ),
    own || tried.length < RATED_FROM
      ? null
      : h("p.rating", {}, tr("Your rating: {rating}", { rating: Math.round(rating) })),
    h(
      "p.soft",
      {},
      own
        ? tr("Positions of your games in which another move was better. They are kept in this browser.")
        : [
            tr("Each position has one right move. What you solve is remembered in this browser."),
            tried.length < RATED_FROM
              ? ""
              : ` ${tr("Each puzzle counts once; {average} is the rating of the weak programs that graded them.", {
                  average: AVERAGE,
                })}`,
          ],
    ),
  ]);
}
function puzzleNumbers() {
  const { done, list, one } = puzzles;
  if (puzzles.level === YOURS) return card("own-puzzles", tr("from your games"), [ownPuzzles()]);
  if (!list.length) return null;
  return card("puzzle-numbers", tr("All puzzles"), [
    h(
      "div.numbers",
      {},
      list.map((each) => {
        const [kind, words] = STATES[done[each.number] ?? 0] ?? STATES[0];
        return h(
          `button.${kind}`,
          {
            "data-key": `puzzle${each.number}`,
            "aria-current": each === one ? "true" : null,
            onclick: () => puzzles.open(each),
            "aria-label": `${tr("Puzzle {number}", { number: each.number })}, ${tr(words)}`,
          },
          each.number,
        );
      }),
    ),
  ]);
}
