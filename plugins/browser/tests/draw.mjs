// Draws positions by the page's scripts: reads {scripts, facts, views} from standard input, writes a list of SVGs.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const { scripts, facts, views } = JSON.parse(readFileSync(0, "utf8"));
globalThis.document = {
  getElementById: () => ({ textContent: JSON.stringify(facts) }),
  documentElement: { dataset: {} },
  querySelector: () => ({}),
};
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.navigator ??= { language: "en" };
globalThis.views = views;
vm.runInThisContext(
  scripts.join("\n") + "\n;globalThis.drawn = views.map((view) => boardSvg({ ...view, clickable: true, at: '' }))",
);
process.stdout.write(JSON.stringify(globalThis.drawn));
