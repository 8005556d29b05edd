// Searches positions without a tree from before; returns what was found, and every evaluation. In Node and in browsers.

export function searched(engine, searches) {
  const { call, engine: e, at } = engine;
  const found = [], planes = [], answers = [];
  const plain = ({ cells, owners, ...rest }) => ({ ...rest, cells: [...cells], owners: owners ? [...owners] : null });
  for (const { moves, sims, setup } of searches) {
    engine.setUp(setup?.cells ?? null, setup?.player);
    engine.reset();
    const legal = moves.every((action) => engine.play(action));
    const position = plain(engine.position());
    engine.fresh = true;
    engine.begin({ sims });
    while (call.ask(e, sims)) {
      planes.push(at.planes.slice());
      call.answer(e);
      answers.push(new Uint8Array(new Float32Array([at.answers[0], ...at.logits]).buffer));
    }
    found.push({ legal, position, opinion: engine.opinion(), territory: engine.territory() });
  }
  return { found, planes, answers };
}
