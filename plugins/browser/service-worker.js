// Keeps the site on the device: the start page at once, a game when it is first opened; all of one version.
const VERSION = __VERSION__;
const FIRST = __FIRST__;
const PAGES = __PAGES__;
const KNOWN = new Set([...FIRST, ...PAGES].map((name) => new URL(name, self.registration.scope).href));

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FIRST)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const older = (names) => names.filter((name) => name !== VERSION);
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
  const fresh = await fetch(href);
  if (fresh.ok) await cache.put(href, fresh.clone());
  return fresh;
}
