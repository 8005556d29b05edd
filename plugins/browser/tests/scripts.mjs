// Runs the page's scripts: reads {scripts, facts, given, answer} from standard input, writes what the expression `answer`
// is of `given`, as JSON.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const { scripts, facts, given, answer } = JSON.parse(readFileSync(0, "utf8"));
globalThis.document = {
  getElementById: () => ({ textContent: JSON.stringify(facts) }),
  documentElement: { dataset: {} },
  querySelector: () => ({}),
};
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.navigator ??= { language: "en" };
globalThis.given = given;
vm.runInThisContext(`${scripts.join("\n")}\n;globalThis.answer = ${answer}`);
process.stdout.write(JSON.stringify(globalThis.answer));
