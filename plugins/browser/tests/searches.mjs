// Searches the positions of FOLDER/cases.json with the player in FOLDER; writes what was found and every evaluation.
import fs from "fs";
import { pathToFileURL } from "url";

const [folder, script] = process.argv.slice(2);
const { createEngine } = await import(pathToFileURL(script));
const read = (name) => fs.readFileSync(`${folder}/${name}`);
const cases = JSON.parse(read("cases.json"));
const data = {
  wasm: read("all.wasm"), weights: read("weights.bin"), layout: JSON.parse(read("layout.json")), facts: {},
};
let time = performance.now();
const engine = await createEngine(data);
const found = { opened: performance.now() - time, results: [] };
const { call, engine: e, at } = engine;
const planes = [], answers = [];
for (const { moves, sims } of cases) {
  engine.reset();
  const legal = moves.every((action) => engine.play(action));
  const position = engine.position();
  engine.fresh = true;
  call.start_game(e);
  for (const action of moves) call.play_move(e, action);
  engine.begin({ sims });
  let evaluations = 0;
  while (call.ask(e, sims)) {
    planes.push(Buffer.from(at.planes));
    call.answer(e);
    answers.push(Buffer.from(new Float32Array([at.answers[0], ...at.logits]).buffer));
    evaluations++;
  }
  const opinion = engine.opinion();
  found.results.push({ legal, position: { ...position, cells: [...position.cells] }, evaluations, opinion });
}
fs.writeFileSync(`${folder}/planes.bin`, Buffer.concat(planes));
fs.writeFileSync(`${folder}/answers.bin`, Buffer.concat(answers));
fs.writeFileSync(`${folder}/found.json`, JSON.stringify(found));
