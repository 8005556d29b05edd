// Runs service-worker.js with caches that keep notes; prints what it deleted, and how it fetched.
import { readFileSync } from "node:fs";

const handlers = {}, noted = { deleted: [], added: [], fetched: [] };
const scope = "https://ann.example/site/", names = process.argv.slice(3);
globalThis.self = {
  registration: { scope }, clients: { claim() {} }, skipWaiting() {},
  addEventListener: (name, handler) => { handlers[name] = handler; },
};
globalThis.Request = class { constructor(url, { cache } = {}) { Object.assign(this, { url, cache }); } };
const cache = {
  async addAll(all) { noted.added.push(...all.map((one) => [one.url, one.cache])); },
  async match() {},
  async put() {},
};
globalThis.caches = {
  async open(name) { noted.version = name; return cache; },
  async keys() { return [...names, noted.version]; },
  async delete(name) { noted.deleted.push(name); },
};
globalThis.fetch = async (url, options) => {
  noted.fetched.push([url, options?.cache]);
  return { ok: true, clone() {} };
};
const source = readFileSync(process.argv[2], "utf8").replace("__VERSION__", '"new"')
  .replace("__FIRST__", '["./"]').replace("__PAGES__", '["hex.html"]');
(0, eval)(source);
for (const kind of ["install", "activate"]) await new Promise((go) => handlers[kind]({ waitUntil: (all) => all.then(go) }));
const request = { method: "GET", url: `${scope}hex.html?one` };
await new Promise((go) => handlers.fetch({ request, respondWith: (all) => all.then(go) }));
console.log(JSON.stringify(noted));
