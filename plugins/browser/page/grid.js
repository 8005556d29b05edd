// What a position shows: where a move puts its stone, what won, what a move changed. Points are in row order.
// position: {cells, player, legal, over, result, last, score}, see the engine; cells: 1, -1, 0, 2 forbidden, 3 other.

const { rows, columns } = facts;
const STONES = [1, -1];
const isStone = (cell) => cell === 1 || cell === -1;

// -1: a pass, the swap, or a move of a game whose moves are no points.
const pointOfAction = (action) => (facts.layout !== "other" && action < rows * columns ? action : -1);

// The point where a move of this position puts its stone; -1 if it is none, such as a pass.
function pointOf(position, action) {
  if (facts.layout !== "columns") return pointOfAction(action);
  for (let r = rows - 1; r >= 0; r--) if (position.cells[r * columns + action] === 0) return r * columns + action;
  return -1;
}

// The point of the stone that was played last.
function lastPoint(position) {
  const { last, cells } = position;
  if (last < 0) return -1;
  if (facts.layout !== "columns") return pointOfAction(last);
  for (let r = 0; r < rows; r++) if (cells[r * columns + last]) return r * columns + last;
  return -1;
}

// What one move changed: {added, turned: [points], gone: [[point, side]]}; null for more than one move.
function changed(before, now) {
  if (!before) return null;
  const points = [...now.cells.keys()];
  const added = points.filter((p) => isStone(now.cells[p]) && !isStone(before.cells[p]));
  if (added.length !== 1 || added[0] !== lastPoint(now)) return null;
  return {
    added: added[0],
    turned: points.filter((p) => isStone(now.cells[p]) && now.cells[p] === -before.cells[p]),
    gone: points.filter((p) => isStone(before.cells[p]) && !isStone(now.cells[p])).map((p) => [p, before.cells[p]]),
  };
}

const inside = (r, c) => r >= 0 && r < rows && c >= 0 && c < columns;

// The points of each line that won, from one end to the other; on a board of hexagons a chain from edge to edge.
function winningLines(position) {
  const { cells } = position,
    last = lastPoint(position);
  if (!position.over || !position.result) return [];
  if (facts.look === "hexagons") return chain(cells, position.result);
  if (last < 0 || !facts.winningLine) return [];
  const side = cells[last],
    lines = [
      [0, 1],
      [1, 0],
      [1, 1],
      [1, -1],
    ].map(([dr, dc]) => {
      const line = [last];
      for (const sign of [1, -1]) {
        let r = Math.floor(last / columns) + sign * dr,
          c = (last % columns) + sign * dc;
        for (; inside(r, c) && cells[r * columns + c] === side; r += sign * dr, c += sign * dc)
          line.push(r * columns + c);
      }
      return line.sort((a, b) => a - b);
    });
  const exact = lines.filter((line) => line.length === facts.winningLine);
  return (exact.length ? exact : lines).filter((line) => line.length >= facts.winningLine);
}

// The first side joins top and bottom, the second left and right: a shortest chain, found breadth first.
function chain(cells, side) {
  const points = [...cells.keys()].filter((p) => cells[p] === side);
  const starts = points.filter((p) => (side === 1 ? p < columns : p % columns === 0));
  const before = new Map(starts.map((p) => [p, -1])),
    reached = [...starts];
  for (const point of reached) {
    // grows while it is read
    const r = Math.floor(point / columns),
      c = point % columns;
    if (side === 1 ? r === rows - 1 : c === columns - 1) {
      const line = [];
      for (let p = point; p >= 0; p = before.get(p)) line.unshift(p);
      return [line];
    }
    for (const [dr, dc] of [
      [0, -1],
      [0, 1],
      [-1, 0],
      [-1, 1],
      [1, -1],
      [1, 0],
    ]) {
      const p = (r + dr) * columns + c + dc;
      if (!inside(r + dr, c + dc) || cells[p] !== side || before.has(p)) continue;
      before.set(p, point);
      reached.push(p);
    }
  }
  return [];
}

// The corners, in turn, of the squares at any angle that the last stone completed.
function scoredSquares(position) {
  const { cells } = position,
    last = lastPoint(position);
  if (facts.look !== "corners" || last < 0) return [];
  const r = Math.floor(last / columns),
    c = last % columns,
    found = [];
  for (const point of cells.keys()) {
    const dr = Math.floor(point / columns) - r,
      dc = (point % columns) - c;
    const corners = [
      [r, c],
      [r + dr, c + dc],
      [r + dr + dc, c + dc - dr],
      [r + dc, c - dr],
    ];
    if (point !== last && corners.every(([y, x]) => inside(y, x) && cells[y * columns + x] === cells[last]))
      found.push(corners.map(([y, x]) => y * columns + x));
  }
  return found;
}

// {point: number of the last move to it} after these moves.
function moveNumbers(moves) {
  const numbers = new Map(),
    height = new Array(columns).fill(0);
  moves.forEach((action, i) => {
    const point = facts.layout === "columns" ? (rows - ++height[action]) * columns + action : pointOfAction(action);
    if (point >= 0) numbers.set(point, i + 1);
  });
  return numbers;
}
