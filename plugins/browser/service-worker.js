// Keeps the site on the device: the start page at once, a game when it is first opened; each page of the newest version
// at the time it was fetched. Other sites of the same web space keep their own.
const OWN = self.registration.scope + " ";
const VERSION = OWN + __VERSION__;
const FIRST = __FIRST__;
const PAGES = __PAGES__;
const KNOWN = new Set([...FIRST, ...PAGES].map((name) => new URL(name, self.registration.scope).href));

self.addEventListener("install", (event) => {
  const fresh = FIRST.map((name) => new Request(name, { cache: "reload" })); // not what the browser kept of an old one
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(fresh)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const older = (names) => names.filter((name) => name.startsWith(OWN) && name !== VERSION);
  event.waitUntil(
    caches.keys().then((names) => Promise.all(older(names).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  url.hash = url.search = "";
  if (request.method === "GET" && KNOWN.has(url.href)) event.respondWith(kept(url.href));
});

async function kept(href) {
  const cache = await caches.open(VERSION);
  const found = await cache.match(href);
  if (found) return found;
  const fresh = await fetch(href, { cache: "no-cache" });
  if (fresh.ok) await cache.put(href, fresh.clone());
  return fresh;
}
