// How many moves it takes to the end: an exhaustive search of games of lines on points or columns, in a worker of its own.
// It proves wins and losses that lie within the depth that it reaches in its time; the rest it leaves open.

// Runs in the worker: solves {cells, player, seconds} and posts {values: {action: plies to the end, negative for a loss,
// 0 for a draw}} after each depth, and {done} at the end.
function endingsWorker({ rows, columns, winningLine, byColumns }) {
  const size = rows * columns,
    lines = [],
    through = Array.from({ length: size }, () => []);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++)
      for (const [dr, dc] of [
        [0, 1],
        [1, 0],
        [1, 1],
        [1, -1],
      ]) {
        const endR = r + dr * (winningLine - 1),
          endC = c + dc * (winningLine - 1);
        if (endR >= rows || endC < 0 || endC >= columns) continue;
        const line = [];
        for (let i = 0; i < winningLine; i++) line.push((r + i * dr) * columns + c + i * dc);
        for (const p of line) through[p].push(lines.length);
        lines.push(Int16Array.from(line));
      }
  const cells = new Int8Array(size),
    counts = [new Uint8Array(lines.length), new Uint8Array(lines.length)], // stones of each side on each line
    ready = [new Int16Array(size), new Int16Array(size)], // lines that a stone there would complete, for each side
    height = new Int32Array(columns); // rows that are filled, in a game of columns
  // a hash of two words: one for the place, one to know that it is the same position
  let word = 0x9e3779b9;
  const random = () => {
    word = Math.imul(word ^ (word >>> 15), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    word ^= word >>> 16;
    return (word = (word + 0x6d2b79f5) | 0);
  };
  const words = [0, 1].map(() => [
    Int32Array.from({ length: size }, random),
    Int32Array.from({ length: size }, random),
  ]);
  const PLACES = 1 << 21,
    locks = new Int32Array(PLACES),
    locks2 = new Int32Array(PLACES),
    known = new Int16Array(PLACES), // 4 * depth + result + 2; 0 for nothing
    OPEN = 0;
  let low = 0,
    high = 0,
    free = size,
    nodes = 0,
    deadline = 0,
    late = false;
  const middle = (p) =>
    Math.abs((p % columns) - (columns - 1) / 2) + Math.abs(Math.floor(p / columns) - (rows - 1) / 2);
  const order = Int16Array.from([...Array(size).keys()].sort((a, b) => middle(a) - middle(b))),
    columnOrder = [...Array(columns).keys()].sort(
      (a, b) => Math.abs(a - (columns - 1) / 2) - Math.abs(b - (columns - 1) / 2),
    );

  function emptyOf(line) {
    const all = lines[line];
    for (let i = 0; i < winningLine; i++) if (!cells[all[i]]) return all[i];
    return -1;
  }
  function put(p, who) {
    cells[p] = who ? -1 : 1;
    const own = counts[who],
      other = counts[1 - who],
      all = through[p];
    for (let i = 0; i < all.length; i++)
      if (++own[all[i]] === winningLine - 1 && !other[all[i]]) ready[who][emptyOf(all[i])]++;
    low ^= words[0][who][p];
    high ^= words[1][who][p];
    free--;
    if (byColumns) height[p % columns]++;
  }
  function take(p, who) {
    const own = counts[who],
      other = counts[1 - who],
      all = through[p];
    for (let i = 0; i < all.length; i++)
      if (own[all[i]]-- === winningLine - 1 && !other[all[i]]) ready[who][emptyOf(all[i])]--;
    cells[p] = 0;
    low ^= words[0][who][p];
    high ^= words[1][who][p];
    free++;
    if (byColumns) height[p % columns]--;
  }
  const count = byColumns ? columns : size;
  // The point of the i-th move in order, -1 where there is none.
  function move(i) {
    if (!byColumns) return cells[order[i]] ? -1 : order[i];
    const c = columnOrder[i];
    return height[c] < rows ? (rows - 1 - height[c]) * columns + c : -1;
  }
  // 1: who is to move wins within `depth` plies; -1: loses within; 0: neither is shown.
  function search(who, depth) {
    if ((++nodes & 4095) === 0 && performance.now() > deadline) late = true;
    if (late || !free || !depth) return OPEN;
    let forced = -1,
      two = false;
    const mine = ready[who],
      theirs = ready[1 - who];
    for (let i = 0; i < count; i++) {
      const p = move(i);
      if (p < 0) continue;
      if (mine[p]) return 1;
      if (theirs[p]) {
        two = forced >= 0;
        forced = p;
      }
      if (two) break;
    }
    if (two) {
      for (let i = 0; i < count; i++) {
        const p = move(i);
        if (p >= 0 && mine[p]) return 1;
      }
      return depth >= 2 ? -1 : OPEN;
    }
    if (depth < 2) return OPEN;
    const lock = high ^ who,
      place = low & (PLACES - 1);
    if (known[place] && locks[place] === low && locks2[place] === lock) {
      const then = known[place] >> 2,
        result = (known[place] & 3) - 2;
      if (result === OPEN ? then >= depth : then <= depth) return result;
    }
    let result = -1;
    for (let i = forced >= 0 ? -1 : 0; i < (forced >= 0 ? 0 : count); i++) {
      const p = i < 0 ? forced : move(i);
      if (p < 0) continue;
      put(p, who);
      const reply = search(1 - who, depth - 1);
      take(p, who);
      if (reply === -1) {
        result = 1;
        break;
      }
      if (reply === OPEN) result = OPEN;
    }
    if (late) return OPEN;
    locks[place] = low;
    locks2[place] = lock;
    known[place] = 4 * depth + result + 2;
    return result;
  }
  function solve({ id, board, player, seconds }) {
    for (let p = 0; p < size; p++) if (cells[p]) take(p, cells[p] === 1 ? 0 : 1);
    for (let p = size - 1; p >= 0; p--) if (board[p] === 1 || board[p] === -1) put(p, board[p] === 1 ? 0 : 1);
    known.fill(0);
    late = false;
    nodes = 0;
    deadline = performance.now() + 1000 * seconds;
    const who = player === 1 ? 0 : 1,
      values = {},
      open = new Set();
    for (let i = 0; i < count; i++) if (move(i) >= 0) open.add(move(i));
    const action = (p) => (byColumns ? p % columns : p);
    for (const p of [...open])
      if (ready[who][p]) {
        values[action(p)] = 1;
        open.delete(p);
      }
    for (let depth = 1; depth < free && open.size && !late; depth++) {
      for (const p of [...open]) {
        put(p, who);
        const reply = search(1 - who, depth);
        take(p, who);
        if (reply === OPEN) continue;
        values[action(p)] = -reply * (depth + 1);
        open.delete(p);
      }
      postMessage({ id, values, done: false });
    }
    if (!late) for (const p of open) values[action(p)] = 0; // all was searched to the end
    postMessage({ id, values, done: true });
    return { values, nodes };
  }
  return solve;
}

const endings = {
  found: new Map(), // {key of the moves: {values: {action: plies}, done: whether the search has ended}}
  worker: null,
  asked: null,
  // whether lines are all that ends this game
  can: Boolean(facts.winningLine) && facts.look !== "hexagons" && !/rule=/.test(facts.spec),
  of(key) {
    return this.found.get(key)?.values ?? {};
  },
  ask(position, moves, seconds = 4) {
    const key = keyOf(moves);
    if (!this.can || position.over || this.found.get(key)?.done || this.asked === key) return;
    this.stop();
    this.asked = key;
    if (facts.server) this.askServer(moves, key);
    const source = `const solve = (${endingsWorker})(${JSON.stringify({
      rows,
      columns,
      winningLine: facts.winningLine,
      byColumns: facts.layout === "columns",
    })}); onmessage = ({ data }) => solve(data);`;
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => {
      if (data.id !== this.asked) return;
      if (this.found.size > MOST_FOUND) this.found.clear();
      this.found.set(key, { values: { ...this.of(key), ...data.values }, done: data.done });
      if (data.done) this.stop();
      showAnalysis();
    };
    this.worker.postMessage({ id: key, board: [...position.cells], player: position.player, seconds });
  },
  // The server may have a solver that knows more: every move, from the first on.
  async askServer(moves, key) {
    const found = await server.post("exact", { game: facts.spec, moves, setup: table.setup }).catch(() => null);
    if (!found?.plies || !found.values) return;
    const values = Object.entries(found.plies).map(([action, plies]) => [action, plies * found.values[action]]);
    this.found.set(key, { values: Object.fromEntries(values), done: true });
    if (this.asked === key) this.stop();
    showAnalysis();
  },
  stop() {
    this.worker?.terminate();
    this.worker = null;
    this.asked = null;
  },
};
// A number of plies as what a player says: a win or a loss in a number of own moves.
function endingWords(plies) {
  if (!plies) return tr("drawn");
  const count = Math.ceil(Math.abs(plies) / 2);
  return plies > 0 ? tr("won in {count}", { count }) : tr("lost in {count}", { count });
}
