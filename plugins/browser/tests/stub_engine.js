// A test double of the engine: plain rules on points or columns, n in a row, or a board that fills up; a flat search by
// random games. It has the interface that the page needs and nothing of the program's rules.

export async function createEngine(data) {
  const { rows, columns, layout, winningLine, actionSize, start } = data.facts;
  let line = [],
    states = [structured(start)],
    tree = null;

  function structured({ cells, player }) {
    return { cells: Int8Array.from(cells), player, last: -1, over: false, result: null, passes: 0 };
  }
  const now = () => states[states.length - 1];
  function spot({ cells }, action) {
    if (layout !== "columns") return action < rows * columns ? action : -1;
    for (let r = rows - 1; r >= 0; r--) if (!cells[r * columns + action]) return r * columns + action;
    return -1;
  }
  function legalOf(state) {
    if (state.over) return [];
    return [...Array(actionSize).keys()].filter(
      (a) => (layout !== "columns" && a >= rows * columns) || (spot(state, a) >= 0 && !state.cells[spot(state, a)]),
    );
  }
  function won({ cells }, p) {
    if (!winningLine) return false;
    return [
      [0, 1],
      [1, 0],
      [1, 1],
      [1, -1],
    ].some(([dr, dc]) => {
      let count = 1;
      for (const sign of [1, -1])
        for (
          let r = Math.floor(p / columns) + sign * dr, c = (p % columns) + sign * dc;
          r >= 0 && r < rows && c >= 0 && c < columns && cells[r * columns + c] === cells[p];
          r += sign * dr, c += sign * dc
        )
          count++;
      return count >= winningLine;
    });
  }
  function after(state, action) {
    const p = spot(state, action),
      next = {
        ...state,
        cells: state.cells.slice(),
        player: -state.player,
        last: action,
        passes: p < 0 ? state.passes + 1 : 0,
      };
    if (p >= 0) {
      next.cells[p] = state.player;
      if (won(next, p)) Object.assign(next, { over: true, result: state.player });
    }
    if (!next.over && (next.passes > 1 || next.cells.every(Boolean)))
      Object.assign(next, { over: true, result: winningLine ? 0 : Math.sign(next.cells.reduce((a, b) => a + b, 0)) });
    return next;
  }
  // a win at once is taken, so that a few simulations find what blocks one, also on a busy machine
  function playout(state) {
    let one = legalOf(state).map((action) => after(state, action)).find(({ result }) => result === state.player) ?? state;
    for (let i = 0; i < 60 && !one.over; i++) {
      const legal = legalOf(one);
      one = after(one, legal[Math.floor(Math.random() * legal.length)]);
    }
    return one.over ? one.result : 0;
  }
  function begun() {
    const state = now(),
      legal = legalOf(state),
      visits = new Array(actionSize).fill(0),
      sums = new Array(actionSize).fill(0),
      priors = new Array(actionSize).fill(0);
    const near = (a) => {
      return a >= rows * columns ? 0.2 : 1 + 3 / (1 + Math.abs((a % columns) - (columns - 1) / 2));
    };
    const all = legal.reduce((sum, a) => sum + near(a), 0);
    for (const a of legal) priors[a] = near(a) / all;
    return { state, legal, visits, sums, priors };
  }
  return {
    get moves() {
      return [...line];
    },
    reset() {
      line = [];
      states = [states[0]];
      tree = null;
    },
    play(action) {
      if (!legalOf(now()).includes(action)) return false;
      states.push(after(now(), action));
      line.push(action);
      tree = null;
      return true;
    },
    undo() {
      if (!line.length) return false;
      line.pop();
      states.pop();
      tree = null;
      return true;
    },
    position() {
      const { cells, player, last, over, result } = now();
      const sum = (side) => cells.reduce((count, cell) => count + (cell === side), 0);
      return {
        cells: cells.slice(),
        player,
        last,
        over,
        result,
        legal: legalOf(now()),
        score: data.facts.scored ? [sum(1), sum(-1)] : null,
      };
    },
    begin({ sims }) {
      if (this.fresh) tree = null;
      this.fresh = false;
      tree ??= begun();
      tree.sims = sims;
    },
    step() {
      const end = performance.now() + 20,
        { state, legal, visits, sums, priors } = tree;
      let sum = visits.reduce((a, b) => a + b, 0);
      while (sum < tree.sims && performance.now() < end) {
        let best = legal[0],
          most = -Infinity;
        for (const a of legal) {
          const u = (visits[a] ? sums[a] / visits[a] : 0) + (2 * priors[a] * Math.sqrt(1 + sum)) / (1 + visits[a]);
          if (u > most) [best, most] = [a, u];
        }
        sums[best] += playout(after(state, best)) * state.player;
        visits[best]++;
        sum++;
      }
      return { done: sum >= tree.sims, visits: sum, evaluations: sum };
    },
    opinion() {
      const { legal, visits, sums, priors } = tree,
        q = visits.map((n, a) => (n ? sums[a] / n : null));
      const best = legal.reduce((a, b) => (visits[b] > visits[a] ? b : a)),
        sum = visits.reduce((a, b) => a + b, 0);
      const line = [best];
      for (let state = after(now(), best); line.length < 5 && !state.over;) {
        const legal = legalOf(state);
        line.push(legal[Math.floor(legal.length / 2)]);
        state = after(state, line[line.length - 1]);
      }
      const value = q[best] ?? 0;
      const rows = legal.filter((a) => visits[a]).map((a) => [-1, a, visits[a], q[a], priors[a]]);
      for (let i = 1, parent = rows.findIndex((row) => row[1] === best); i < line.length; i++) {
        const count = Math.floor(visits[best] / 2 ** i);
        if (count) parent = rows.push([parent, line[i], count, value, 0.25]) - 1;
      }
      return {
        visits: [...visits],
        priors: [...priors],
        q,
        v: q,
        value,
        raw: value * 0.8,
        line,
        proven: null,
        best,
        tree: rows,
      };
    },
    choose() {
      if (!tree) this.begin({ sims: 1 });
      return this.opinion().best;
    },
    // Each side will own its half of the board, and what stands in the other's is dead.
    territory() {
      const owned = Array.from({ length: rows * columns }, (_, p) => (p % columns < columns / 2 ? 1 : -1));
      return { owned, lead: owned.reduce((a, b) => a + b) };
    },
    count(cells) {
      const sum = (side) => cells.reduce((count, cell) => count + (cell === side), 0);
      return { score: [sum(1), sum(-1)], owners: cells };
    },
    evaluate() {
      return { value: 0, logits: new Array(actionSize).fill(0) };
    },
    setUp(cells, player) {
      states = [cells ? structured({ cells, player }) : structured(start)];
      line = [];
      tree = null;
      return true;
    },
  };
}
