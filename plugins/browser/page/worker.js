// The worker around the engine: answers calls in their order, {id, call, args} -> {id, result | error}. A search tells
// how far it is, {id, progress}, and ends at once when {stop: true} comes.

let engine = null, stopped = false, queue = Promise.resolve();
const breath = new MessageChannel(), waiting = [];
breath.port1.onmessage = () => waiting.shift()();
const pause = () => new Promise((go) => { waiting.push(go); breath.port2.postMessage(0); });

const calls = {
  async create(data) {
    engine = await createEngine(data);
    return { position: engine.position(), setUp: typeof engine.setUp === "function" };
  },
  // Goes to a line of moves from the start; returns the positions after each of them from ply `from` on, or the move
  // that is not legal there.
  follow({ moves, from = moves.length }) {
    const now = engine.moves;
    let common = 0;
    while (common < Math.min(now.length, moves.length, from) && now[common] === moves[common]) common++;
    if (!common) engine.reset();
    else for (let i = now.length; i > common; i--) engine.undo();
    const positions = common >= from ? [engine.position()] : [];
    for (let i = common; i < moves.length; i++) {
      if (!engine.play(moves[i])) return { positions, illegal: i };
      if (i + 1 >= from) positions.push(engine.position());
    }
    if (!common && from === 0) positions.unshift(start());
    return { positions, illegal: null };
  },
  async search({ moves, sims, level = null, choose = null, every = 120 }, tell) {
    calls.follow({ moves });
    engine.begin({ sims, level });
    let told = performance.now(), step;
    do {
      step = engine.step();
      if (performance.now() - told > every) {
        tell({ opinion: engine.opinion(), visits: step.visits });
        told = performance.now();
      }
      await pause();
    } while (!step.done && !stopped);
    if (stopped && choose) return { stopped };
    const opinion = engine.opinion();
    return { stopped, opinion, visits: step.visits, action: choose ? engine.choose(choose) : null };
  },
  setUp({ cells, player }) {
    return engine.setUp(cells && Int8Array.from(cells), player) ? engine.position() : null;
  },
};

function start() {
  const moves = [...engine.moves];
  for (let i = 0; i < moves.length; i++) engine.undo();
  const found = engine.position();
  for (const action of moves) engine.play(action);
  return found;
}

onmessage = ({ data: { id, call, args, stop } }) => {
  if (stop) { stopped = true; return; }
  queue = queue.then(async () => {
    stopped = false;
    try {
      const result = await calls[call](args, (progress) => postMessage({ id, progress }));
      postMessage({ id, result });
    } catch (error) {
      postMessage({ id, error: String(error?.message ?? error) });
    }
  });
};
