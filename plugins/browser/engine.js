// The player: the compiled search, rules and network of one game, on one current line of play.
// Runs in a worker of the page and in Node. What each entry does is said in entries.py.

const TYPES = {
  int32: Int32Array, uint8: Uint8Array, int16: Int16Array, float32: Float32Array, float64: Float64Array,
};
const PAGE = 65536;
const EVALUATIONS = 1, OVER = 2, RESULT = 3, TO_MOVE = 4, LEGAL_MOVES = 5; // in `state`, as in entries.py
const TOLD = { 0: null, 1: 1, "-1": -1, 2: 0 }; // proofs: unproven, won, lost, drawn

export async function createEngine(data) {
  const { layout, facts } = data;
  const memory = new WebAssembly.Memory({
    initial: Math.ceil(layout.size / PAGE) + 32, maximum: 32768,
  });
  const module = await WebAssembly.compile(data.wasm);
  const env = { memory };
  for (const { name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === "function") env[name] = Math[name] || (() => { throw new Error(`the rules fail: ${name}`); });
  }
  const call = (await WebAssembly.instantiate(module, { env })).exports;
  const base = (Number(call.__heap_base.value) + 63) & ~63;
  const missing = base + layout.size + PAGE - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  const view = new DataView(memory.buffer);
  const bytes = new Uint8Array(memory.buffer);
  for (const [place, text] of layout.pieces) {
    const piece = atob(text);
    for (let i = 0; i < piece.length; i++) bytes[base + place + i] = piece.charCodeAt(i);
  }
  for (const place of layout.pointers) {
    view.setBigUint64(base + place, view.getBigUint64(base + place, true) + BigInt(base), true);
  }
  const slots = {};
  for (const [place, name] of layout.functions) {
    if (!(name in slots)) {
      slots[name] = call.__indirect_function_table.grow(1);
      call.__indirect_function_table.set(slots[name], call[name]);
    }
    view.setBigUint64(base + place, BigInt(slots[name]), true);
  }
  const at = {}; // the arrays by name
  for (const [name, [place, length, type]] of Object.entries(layout.arrays)) {
    at[name] = new TYPES[type](memory.buffer, base + place, length);
  }
  const trained = [at.small, at.fine, at.exact];
  if (data.weights.byteLength !== trained.reduce((sum, each) => sum + each.byteLength, 0)) {
    throw new Error("the weights do not fit the network");
  }
  let read = 0;
  for (const each of trained) { // its numbers' first bytes, then their second ones, and so on
    const width = each.BYTES_PER_ELEMENT;
    for (let k = 0; k < width; k++) {
      for (let i = k; i < each.byteLength; i += width) bytes[each.byteOffset + i] = data.weights[read++];
    }
  }
  return new Engine(call, base + layout.engine, at, view, base, layout, facts);
}

class Engine {
  constructor(call, engine, at, view, base, layout, facts) {
    Object.assign(this, { call, engine, at, view, base, layout, facts });
    this.moves = [];
    this.settings = ""; // with which the tree was searched: "full", "level", or none
    this.target = 0;
    this.slice = 64;
    this.fresh = true;
    call.widen_weights(engine);
    const random = new Int32Array(2);
    globalThis.crypto.getRandomValues(random);
    this.seed(random[0], random[1]);
    this.reset();
  }

  // ---- the game

  seed(low, high = 0) {
    this.call.seed(this.engine, low | 0, high | 0);
  }

  reset() {
    this.moves = [];
    this.searched = false;
    this.call.start_game(this.engine);
  }

  play(action) {
    if (!Number.isInteger(action) || action < 0 || action >= this.at.visits.length) return false;
    if (!this.call.play_move(this.engine, action)) return false;
    this.moves.push(action);
    this.searched = false;
    return true;
  }

  undo() {
    if (!this.moves.length) return false;
    const moves = this.moves.slice(0, -1);
    this.reset();
    for (const action of moves) this.play(action);
    return true;
  }

  // Begins with other stones, `cells` of 1, -1 and 0, null: as the rules say. Returns whether there is such a position.
  setUp(cells, player = 1) {
    if (!this.call.arrange) return cells === null;
    if (cells === null) this.call.arrange_nothing(this.engine);
    else {
      this.at.cells.set(cells);
      if (!this.call.arrange(this.engine, player)) return false;
    }
    this.moves = [];
    this.searched = false;
    this.fresh = true;
    return true;
  }

  position() {
    this.call.look(this.engine);
    const { state } = this.at;
    const over = state[OVER], player = state[TO_MOVE];
    const { rows, columns, stones, forbidden } = this.layout;
    const [own, other, planes] = stones;
    const cells = new Int8Array(rows * columns);
    for (let i = 0; i < cells.length; i++) {
      cells[i] = player * (this.at.planes[i * planes + own] - this.at.planes[i * planes + other]);
    }
    const legal = Array.from(this.at.legal.subarray(0, state[LEGAL_MOVES]));
    if (forbidden && !over) {
      const free = new Set(legal);
      for (let i = 0; i < cells.length; i++) if (!cells[i] && !free.has(i)) cells[i] = 2;
    }
    const found = {
      cells, player, legal, over: over === 1, result: over ? state[RESULT] : null,
      last: this.moves.length ? this.moves[this.moves.length - 1] : -1, score: null,
    };
    if (!this.layout.counts) return found;
    this.call.count_points(this.engine);
    return { ...found, ...this._counted() };
  }

  // The points of a board with these stones, and who owns which; null where there is no such board.
  count(cells) {
    this.at.cells.set(cells);
    return this.call.count_stones(this.engine) ? this._counted() : null;
  }

  _counted() {
    const { points } = this.at;
    const score = Array.from(points.subarray(0, 2));
    return points.length > 2 ? { score, owners: Int8Array.from(points.subarray(2)) } : { score };
  }

  // ---- the search

  // Begins a search of the position, or continues it: until its root has `sims` visits in all.
  begin({ sims = 400, slice = 64, level = null, gumbel = 0 } = {}) {
    const settings = level === null || level === undefined ? "full" : "level";
    const wanted = Math.max(1, Math.min(sims | 0, this.layout.sims));
    if (settings !== this.settings) {
      for (const [name, value] of Object.entries(this.layout.settings[settings])) {
        this.view.setBigInt64(this.base + this.layout.words[name], BigInt(value), true);
      }
    }
    const fresh = this.fresh || settings !== this.settings || gumbel > 0;
    this.settings = settings;
    this.fresh = false;
    this.target = wanted;
    this.slice = Math.max(1, slice | 0);
    if (this.at.state[OVER]) {
      this.target = 0;
      return;
    }
    if (!this.searched || fresh) this.call.search_here(this.engine, wanted, fresh ? 1 : 0);
    this.searched = true;
    if (gumbel > 0) this.call.with_gumbel(this.engine, gumbel | 0);
    this.gumbel = gumbel > 0;
  }

  // Searches for some 30 ms.
  step() {
    const end = now() + 30;
    const before = this.at.state[EVALUATIONS];
    let done = this.target === 0;
    let visits = done ? 0 : this.call.visits_of_root(this.engine);
    while (!done) {
      const goal = this.gumbel ? this.target : Math.min(this.target, visits + this.slice);
      const over = this.call.think(this.engine, goal, Math.max(1, this.slice >> 3));
      const found = this.call.visits_of_root(this.engine);
      done = over && (goal === this.target || found < goal); // nothing is left, or the tree is full
      visits = found;
      if (now() > end) break;
    }
    return { done: Boolean(done), visits, evaluations: this.at.state[EVALUATIONS] - before };
  }

  opinion() {
    this._need();
    const proof = this.call.look_at_root(this.engine);
    const { visits, priors, q, own, proofs, values } = this.at;
    const best = this.call.favourite(this.engine);
    const found = {
      visits: Array.from(visits), priors: Array.from(priors), q: Array.from(q, known), v: Array.from(own, known),
      value: values[0], raw: known(values[1]), proven: Array.from(proofs, (each) => TOLD[each]),
      sims: this.call.visits_of_root(this.engine), proof: TOLD[proof], best, line: this._line(best), lines: {},
      tree: this._tree(),
    };
    const order = found.visits.map((count, action) => [count, action]).filter(([count]) => count > 0);
    for (const [, action] of order.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 8)) {
      found.lines[action] = this._line(action).slice(0, 12);
    }
    return found;
  }

  _line(action) {
    return action < 0 ? [] : Array.from(this.at.line.subarray(0, this.call.line_after(this.engine, action)));
  }

  // The most visited moves of the tree, [parent, action, visits, value, prior] each: parent is the number of the move
  // before it, -1 at the root, and the value is for the player to move at the root.
  _tree() {
    const { branches, worths } = this.at, found = [];
    const count = this.call.list_branches(this.engine);
    for (let i = 0; i < count; i++) {
      found.push([...branches.subarray(6 * i, 6 * i + 3), ...worths.subarray(2 * i, 2 * i + 2)]);
    }
    return found;
  }

  _need() {
    if (!this.searched) this.begin({ sims: 1 });
  }

  // Returns a move: by the search's visits; of a level with a temperature, drawn as its player draws; plain: no search,
  // with slips, a share of moves from all that are allowed.
  choose({ temperature = 0, slips = 0, plain = false, level = null } = {}) {
    if (this.at.state[OVER]) return -1;
    if (plain) return this.call.draw_by_priors(this.engine, temperature, slips);
    this._need();
    const drawn = temperature > 0 && level !== null && level !== undefined;
    return drawn ? this.call.draw_by_visits(this.engine, temperature) : this.call.choose_move(this.engine, temperature);
  }

  // The network's own judgement, without a search.
  evaluate() {
    this.call.judge(this.engine);
    return { value: this.at.values[1], logits: Array.from(this.at.logits) };
  }

  // Who will own each point, from 1, who began, to -1, and by how many points who began will lead: what the network
  // expects; null where it has not learned that.
  territory() {
    if (!this.call.foresee_owners?.(this.engine)) return null;
    const owned = Array.from(this.at.territory);
    this.call.count_points(this.engine);
    const { score, owners } = this._counted();
    const komi = score[1] - owners.filter((one) => one === -1).length;
    return { owned, lead: owned.reduce((sum, one) => sum + one, 0) - komi };
  }
}

const known = (value) => (isNaN(value) ? null : value);
const now = () => globalThis.performance.now();
