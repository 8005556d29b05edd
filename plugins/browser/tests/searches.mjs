// Plays with the player in FOLDER what its cases.json asks; writes what was found, and every evaluation.
import fs from "fs";
import { pathToFileURL } from "url";
import { searched } from "./searched.mjs";

const [folder, script] = process.argv.slice(2);
const { createEngine } = await import(pathToFileURL(script));
const read = (name) => fs.readFileSync(`${folder}/${name}`);
const { searches, games, draws, setups, seldom } = JSON.parse(read("cases.json"));
const engine = await createEngine({
  wasm: read("all.wasm"), weights: read("weights.bin"), layout: JSON.parse(read("layout.json")), facts: {},
});
const { call, engine: e, at } = engine;
const follow = (moves) => {
  engine.reset();
  return moves.every((action) => engine.play(action));
};

const { found: positions, planes, answers } = searched(engine, searches);
const found = { searches: positions, games: [], draws: {}, setups: [] };
for (const { cells, player } of setups) {
  const before = [engine.moves.length, ...engine.position().cells].join();
  const made = engine.setUp(cells, player);
  if (!made && before !== [engine.moves.length, ...engine.position().cells].join()) throw new Error("it has changed");
  found.setups.push(made ? { legal: engine.position().legal, planes: [...at.planes] } : null);
}
engine.setUp(null);

const before = engine.view.buffer.byteLength;
let word = 1;
const random = (count) => { // a number below count; the same ones in each run
  word = (Math.imul(word, 1103515245) + 12345) & 0x7fffffff;
  return (word >> 8) % count;
};
for (let i = 0; i < games; i++) { // random moves, and those of a level now and then
  engine.reset();
  let position = engine.position();
  while (!position.over) {
    const level = random(seldom); // 0: without a search, 1: of a level with one
    if (level === 1) {
      engine.begin({ sims: 4, level: 0 });
      while (!engine.step().done);
    }
    const action = level < 2 ? engine.choose({ temperature: 1, level: level === 1 ? 0 : null, plain: level === 0 })
      : position.legal[random(position.legal.length)];
    if (!engine.play(action)) throw new Error(`move ${action} was refused`);
    position = engine.position();
  }
  if (engine.play(0) || engine.choose({}) !== -1) throw new Error("a game that is over continues");
  const { result, score, cells } = position;
  const fewer = call.count_stones ? engine.count(cells.map((cell, p) => (p % 3 ? cell : 0))) : null;
  if (fewer) fewer.owners = [...fewer.owners];
  found.games.push({ moves: engine.moves, result, score, fewer });
}
found.grown = engine.view.buffer.byteLength - before;

follow(draws.moves);
for (const bad of [-1, 1.5, 1e9, NaN, "0", null, undefined]) {
  if (engine.play(bad)) throw new Error(`move ${bad} was played`);
}
engine.seed(7);
engine.begin({ sims: draws.sims, level: 0 });
while (!engine.step().done);
found.draws.visits = engine.opinion().visits;
found.draws.proven = engine.opinion().proven;
found.draws.logits = engine.evaluate().logits;
const kinds = { by_visits: { level: 0 }, by_priors: { plain: true }, with_slips: { plain: true, slips: 0.25 } };
for (const [kind, options] of Object.entries(kinds)) {
  found.draws[kind] = new Array(at.visits.length).fill(0);
  const choice = { temperature: draws.temperature, ...options };
  for (let i = 0; i < draws.count; i++) found.draws[kind][engine.choose(choice)]++;
}
found.draws.undone = [];
while (engine.undo()) found.draws.undone.push(engine.moves.length);

fs.writeFileSync(`${folder}/planes.bin`, Buffer.concat(planes));
fs.writeFileSync(`${folder}/answers.bin`, Buffer.concat(answers));
fs.writeFileSync(`${folder}/found.json`, JSON.stringify(found));
