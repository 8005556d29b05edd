// Learn from your mistakes: the position before each, the worst first; a better move is found on the board and its line
// played out there. The mistakes are kept in the browser as puzzles.

const MOST_KEPT = 60,
  CHECK_SIMS = 200,
  PACE = 650;

const mistakes = {
  get all() {
    try {
      const found = JSON.parse(kept.get(`mistakes:${facts.spec}`) ?? "[]"),
        action = (one) => Number.isInteger(one) && one >= 0 && one < facts.actionSize;
      return found.filter(
        (one) =>
          Array.isArray(one?.moves) &&
          one.moves.every(action) &&
          Array.isArray(one.line) &&
          one.line.length > 0 &&
          one.line.every(action) &&
          action(one.action) &&
          one.mark in MARKS &&
          Number.isFinite(one.before) &&
          Number.isFinite(one.after),
      );
    } catch {
      return []; // nothing is kept, or nothing of ours
    }
  },
  set all(list) {
    kept.set(`mistakes:${facts.spec}`, JSON.stringify(list.slice(-MOST_KEPT)));
  },
  keep(items) {
    const known = this.all,
      keys = new Set(known.map(({ moves }) => keyOf(moves)));
    const fresh = items.filter((one) => one.mark !== "inaccuracy" && one.line.length && !keys.has(keyOf(one.moves)));
    this.all = [...known, ...fresh.map((one) => ({ ...one, solved: false }))];
    frame(); // puzzles, where these are the first
  },
  solved(item) {
    this.all = this.all.map((one) => (keyOf(one.moves) === keyOf(item.moves) ? { ...one, solved: true } : one));
  },
};

const learn = {
  items: [], // {moves: before the mistake, action, line: a better one, before, after: its player's values, mark, player}
  index: 0,
  from: "analyse", // the view that it goes back to
  state: "ask", // ask, busy, wrong, right
  note: "",
  refuted: null,
  positions: [],
  step: 0,
  turn: 0,
  get item() {
    return this.items[this.index];
  },
  get position() {
    return this.positions[this.step] ?? facts.start;
  },
  // After a review: the mistakes of the person, or of both where people or machines play.
  async game() {
    go("analyse");
    await review.start(() => {
      const { moves } = table,
        own = review.moves.filter(
          (move) => move?.mark && move.line.length && (me() === null || move.player === me()),
        );
      const worse = own.filter(({ mark }) => mark !== "inaccuracy");
      const items = (worse.length ? worse : own)
        .sort((a, b) => b.loss - a.loss)
        .map(({ ply, action, line, before, after, mark, player }) => ({
          moves: moves.slice(0, ply),
          action,
          line,
          before,
          after,
          mark,
          player,
        }));
      if (!table.setup) mistakes.keep(items);
      if (items.length) this.open(items, 0, "analyse");
      else tell(tr("No mistakes: nothing that the search would have played better."));
    });
  },
  async open(items, index, from = this.from) {
    const turn = ++this.turn,
      shown = view,
      item = items[index];
    stopSearch(); // which the engine would end first
    const { positions, illegal } = await engine.call("follow", { moves: item.moves });
    if (illegal !== null || turn !== this.turn || view !== shown) return;
    Object.assign(this, { items, index, from, positions, step: 0, state: "ask", note: "", refuted: null });
    go("learn");
  },
  leave() {
    this.turn++;
    engine.stop();
  },
  async answer(action) {
    if (this.state === "busy" || this.state === "right") return;
    const { item } = this,
      turn = ++this.turn,
      moves = [...item.moves, action];
    const { positions, illegal } = await engine.call("follow", { moves });
    if (illegal !== null || turn !== this.turn) return;
    if (action === item.line[0]) {
      await this.right(item.line);
      return;
    }
    if (action === item.action) {
      this.wrong(action, [], tr("That is the move that was played."));
      return;
    }
    Object.assign(this, { state: "busy", refuted: null, note: tr("Searching ...") });
    render();
    const [after] = positions;
    let value = (after.result ?? 0) * item.player,
      line = [];
    if (!after.over) {
      const { opinion, stopped } = await engine.call("search", { moves, sims: CHECK_SIMS, seconds: 3 });
      if (turn !== this.turn || stopped) return;
      value = opinion.value * after.player * item.player;
      line = opinion.line;
    }
    if ((item.before - value) / 2 < facts.thresholds.inaccuracy) await this.right([action, ...line]);
    else
      this.wrong(
        action,
        line,
        tr("{move} is not better: chance to win {after} %.", {
          move: spokenName(action),
          after: percent((1 + value) / 2),
        }),
      );
  },
  wrong(action, line, note) {
    Object.assign(this, { state: "wrong", note, refuted: { action, line: [action, ...line.slice(0, 5)] } });
    render();
  },
  async right(line) {
    mistakes.solved(this.item);
    const move = spokenName(line[0]);
    await this.playOut(
      line,
      line[0] === this.item.line[0] ? tr("{move} is the better move.", { move }) : tr("{move} is as good.", { move }),
    );
  },
  // Plays a line out on the board, a move after the other.
  async playOut(line, note) {
    const turn = ++this.turn,
      { moves } = this.item;
    const { positions } = await engine.call("follow", { moves: [...moves, ...line], from: moves.length });
    if (turn !== this.turn) return;
    Object.assign(this, { state: "right", note, refuted: null, positions, step: 0, shownLine: line });
    for (let step = 1; step < positions.length; step++) {
      if (turn !== this.turn || view !== "learn") return;
      this.step = step;
      render();
      await new Promise((on) => setTimeout(on, PACE));
    }
  },
  next() {
    if (this.index + 1 < this.items.length) this.open(this.items, this.index + 1);
    else this.end();
  },
  end() {
    const { from, item } = this;
    if (from === "puzzles") go("puzzles");
    else {
      table.ply = item.moves.length;
      go("analyse");
    }
  },
};

function learnView() {
  const { item, state, refuted, position, positions, step } = learn;
  if (!item) return { position, at: "learn", lines: new Map(), clickable: false };
  return {
    position,
    before: positions[step - 1],
    clickable: state === "ask" || state === "wrong",
    at: `learn${keyOf(item.moves)} ${step}`,
    lines: refuted ? new Map([[refuted.action, refuted.line]]) : new Map(),
    shown: refuted?.action,
    overlay: state === "ask" ? new Map([[item.action, { heat: -0.9, text: MARKS[item.mark] }]]) : new Map(),
  };
}

function learnCard() {
  const { item, items, index, state, note, shownLine } = learn;
  if (!item) return null;
  const count = item.moves.length + 1,
    last = index + 1 === items.length;
  return card("learn", null, [
    h("h2", {}, tr("Mistake {number} of {count}", { number: index + 1, count: items.length })),
    h(
      "p",
      {},
      tr("{number}. {side} played {move}, {mark}: chance to win {before} %, then {after} %.", {
        number: count,
        side: sideName(item.player),
        move: inWords(item.action),
        mark: tr(item.mark),
        before: percent((1 + item.before) / 2),
        after: percent((1 + item.after) / 2),
      }),
    ),
    h(
      "p.verdict",
      { role: "status", class: `verdict ${state === "right" ? "good" : state === "wrong" ? "bad" : ""}` },
      note || tr("Find a better move for {side}.", { side: sideName(item.player) }),
    ),
    state === "right" && shownLine
      ? h("p.soft", {}, tr("Better: {line}", { line: shownLine.map(spokenName).join(" ") }))
      : null,
    h(
      "div.row",
      {},
      state === "right"
        ? button("again", tr("Show again"), () => learn.playOut(shownLine, note), { key: "show-again" })
        : button(
            "eye",
            tr("Show the move"),
            () => learn.playOut(item.line, tr("The better move is {move}.", { move: spokenName(item.line[0]) })),
            { key: "show" },
          ),
      last && state !== "right"
        ? null
        : button("on", last ? tr("Done") : tr("Next"), () => learn.next(), { key: "next", main: state === "right" }),
    ),
  ]);
}
// The mistakes that the browser keeps, as puzzles.
function ownPuzzles() {
  const all = mistakes.all;
  return h(
    "div.numbers",
    {},
    all.map((one, i) =>
      h(
        `button.${one.solved ? "clean" : "open"}`,
        {
          "data-key": `own${i}`,
          onclick: () => learn.open(all, i, "puzzles"),
          "aria-label": `${tr("Puzzle {number}", { number: i + 1 })}, ${one.solved ? tr("solved alone") : tr("not solved")}`,
        },
        i + 1,
      ),
    ),
  );
}
