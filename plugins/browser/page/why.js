// Why a move: what it wins, blocks, threatens, takes, found on the board from the rules' winning lines and from what the
// move changes; where nothing of that is there, what the search says.

// A move as a player of the game writes it, in a list and in a sentence.
const spokenName = (action) => {
  if (pointOfAction(action) < 0) return OTHER_MOVES[moveName(action)]?.() ?? moveName(action);
  return facts.drawing?.capitals ? moveName(action).toUpperCase() : moveName(action);
};
const inWords = (action) =>
  facts.layout === "columns" ? tr("column {name}", { name: moveName(action) }) : spokenName(action);

// Whether a stone on a point wins for its side, by a line or by a chain from edge to edge.
function wins(cells, point, side) {
  if (point < 0 || cells[point]) return false;
  const after = cells.slice();
  after[point] = side;
  if (facts.look === "hexagons") return chain(after, side).length > 0;
  return facts.winningLine
    ? winningLines({ cells: after, over: true, result: side, last: actionAt(point) }).length > 0
    : false;
}
const actionAt = (point) => (facts.layout === "columns" ? point % columns : point);

// The points where a side would win at once, of those where a stone can be put.
function winningPoints(cells, side) {
  const found = [];
  for (let action = 0; action < facts.actionSize; action++) {
    const point = pointOf({ cells }, action);
    if (point >= 0 && !cells[point] && wins(cells, point, side)) found.push(point);
  }
  return found;
}
const placed = (cells, point, side) => {
  const after = cells.slice();
  after[point] = side;
  return after;
};

// The longest run of a side's stones through a point that a stone there would make or stop.
function runThrough(cells, point, side) {
  const own = placed(cells, point, side),
    r0 = Math.floor(point / columns),
    c0 = point % columns;
  return Math.max(
    ...[
      [0, 1],
      [1, 0],
      [1, 1],
      [1, -1],
    ].map(([dr, dc]) => {
      let count = 1;
      for (const sign of [1, -1])
        for (
          let r = r0 + sign * dr, c = c0 + sign * dc;
          inside(r, c) && own[r * columns + c] === side;
          r += sign * dr, c += sign * dc
        )
          count++;
      return count;
    }),
  );
}
const COUNTED = () => [, , tr("the two"), tr("the three"), tr("the four")];

// position, and the position after the move; opinion: of the search, or null. A reason in words, "" without one.
function reasonOf(position, after, action, opinion) {
  const point = pointOf(position, action),
    { cells, player } = position,
    knows = point >= 0 && (facts.winningLine || facts.look === "hexagons");
  if (after.over && after.result === player) return tr("it wins");
  if (knows) {
    const theirs = winningPoints(cells, -player);
    if (theirs.includes(point)) {
      const run = facts.winningLine
        ? COUNTED()[Math.min(runThrough(cells, point, -player) - 1, facts.winningLine - 1)]
        : null;
      return run
        ? tr("it blocks {what}", { what: run })
        : tr("it stops {side} from winning at once", { side: sideName(-player) });
    }
    const mine = winningPoints(after.cells, player);
    if (mine.length > 1) return tr("it threatens to win in two places");
    // what the other side could do there
    if (facts.winningLine && winningPoints(placed(cells, point, -player), -player).length > 1)
      return tr("it stops a double threat");
    if (mine.length === 1) return tr("it threatens to win with {move}", { move: inWords(actionAt(mine[0])) });
  }
  const change = changed(position, after);
  if (change?.gone.length && !change.turned.length)
    return change.gone.length === 1
      ? tr("it takes a stone")
      : tr("it takes {count} stones", { count: change.gone.length });
  const proof = opinion?.proven?.[action];
  if (proof === 1) return tr("it wins by force");
  if (opinion?.proven && onlyMove(position, opinion, action)) return tr("every other move loses");
  if (facts.scored && !facts.scoredByArea && position.score && after.score) {
    const gained = pointsFor(after, player) - pointsFor(position, player);
    if (change?.turned.length && after.player === -player)
      return tr("it turns {count} and leaves {side} {moves}", {
        count: change.turned.length,
        side: sideName(-player),
        moves: counted(after.legal.filter((one) => pointOfAction(one) >= 0).length, said("1 move"), said("{count} moves")),
      });
    if (gained > 0) return tr("it gains {points} points", { points: gained });
  }
  if (!opinion) return "";
  const [best, second] = bestFirst(opinion);
  if (best !== action || second === undefined || opinion.q[second] === null) return "";
  const lead = (opinion.q[best] - opinion.q[second]) / 2;
  if (lead >= 0.03)
    return tr("it keeps {share} % to win, the next best {other} %", {
      share: percent((1 + opinion.q[best]) / 2),
      other: percent((1 + opinion.q[second]) / 2),
    });
  return tr("the search likes it most, {share} % to win", { share: percent((1 + opinion.q[best]) / 2) });
}
const onlyMove = (position, { proven }, action) =>
  position.legal.length > 1 &&
  position.legal.every((one) => one === action || proven[one] === -1) &&
  proven[action] !== -1;
const pointsFor = (position, side) => position.score[side === 1 ? 0 : 1];
const counted = (count, one, many) => tr(count === 1 ? one : many, { count: number(count) });
