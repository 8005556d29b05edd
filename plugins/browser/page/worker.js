// The worker around the engine: answers calls in their order, {id, call, args} -> {id, result | error}. A search
// reports its progress, {id, progress}; {stop: id} ends all searches up to that call.

let engine = null,
  ended = 0,
  queue = Promise.resolve();
const breath = new MessageChannel(),
  waiting = [];
const MOST = 1e6; // simulations of a search that time ends; the engine takes as many as its tree has room for
breath.port1.onmessage = () => waiting.shift()();
const pause = () =>
  new Promise((go) => {
    waiting.push(go);
    breath.port2.postMessage(0);
  });

const calls = {
  async create(data) {
    engine = await createEngine(data);
  },
  // Goes to a line of moves from the start; returns the positions after `from` moves and after each further one, and
  // the number of the move that is not legal.
  follow({ moves, from = moves.length }) {
    const now = engine.moves;
    const most = Math.min(moves.length, from);
    let common = now.length <= most && now.every((action, i) => action === moves[i]) ? now.length : 0;
    if (!common) engine.reset();
    const positions = common === from ? [engine.position()] : [];
    for (let i = common; i < moves.length; i++) {
      if (!engine.play(moves[i])) return { positions, illegal: i };
      if (i + 1 >= from) positions.push(engine.position());
    }
    return { positions, illegal: null };
  },
  // fresh: from an empty tree, whatever was searched before.
  async search({ moves, sims, level = null, choose = null, seconds = Infinity, every = 120, fresh = false }, id) {
    if (id <= ended) return { stopped: true };
    calls.follow({ moves });
    if (choose?.plain) return { stopped: false, action: engine.choose(choose) };
    engine.fresh ||= fresh;
    engine.begin({ sims: sims ?? MOST, level });
    const end = performance.now() + 1000 * seconds;
    let posted = performance.now(),
      step;
    do {
      step = engine.step();
      if (!choose && performance.now() - posted > every) {
        postMessage({ id, progress: { opinion: engine.opinion(), visits: step.visits } });
        posted = performance.now();
      }
      await pause();
    } while (!step.done && id > ended && performance.now() < end);
    const stopped = id <= ended;
    if (choose) return { stopped, action: stopped ? null : engine.choose(choose) };
    return { stopped, opinion: engine.opinion(), visits: step.visits };
  },
  setUp({ cells, player }) {
    return engine.setUp(cells && Int8Array.from(cells), player) ? engine.position() : null;
  },
  count: ({ cells }) => engine.count(cells),
  territory({ moves }) {
    calls.follow({ moves });
    return engine.territory();
  },
};

onmessage = ({ data: { id, call, args, stop } }) => {
  if (stop) {
    ended = stop;
    return;
  }
  const answer = async () => {
    try {
      const result = await calls[call](args, id);
      postMessage({ id, result });
    } catch (error) {
      postMessage({ id, error: String(error?.message ?? error) });
    }
  };
  // the territory of the position that is searched is said between two steps of the search
  if (call === "territory" && engine?.moves.join() === args.moves.join()) answer();
  else queue = queue.then(answer);
};
