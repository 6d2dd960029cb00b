// Keeps the page usable without a network after the first visit. Files whose name carries a hash never change: cache
// first. The page itself and the files of workers, reader and lab (no hash in their names) come from the network when there is one, so that
// page and worker are always of one build.
const CACHE = "neuronscope-1";
const HASHED = /-[0-9a-f]{12,}(_bg)?\.(js|wasm|css)$/;
const NETWORK_LIMIT_MS = 4000;

self.addEventListener("install", (event) => {
  event.waitUntil(precache().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((n) => n.startsWith("neuronscope-") && n !== CACHE).map((n) => caches.delete(n))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin || !url.href.startsWith(self.registration.scope)) return;
  event.respondWith(HASHED.test(url.pathname) ? cacheFirst(event) : networkFirst(event));
});

// What the page needs to start, read from the page itself: the names of hashed files are only there.
async function precache() {
  const cache = await caches.open(CACHE);
  const response = await fetch("./", { cache: "no-cache" });
  if (!response.ok) return;
  const html = await response.clone().text();
  await cache.put("./", response);
  const linked = [...html.matchAll(/(?:href|src)="([^"#:]+)"/g)].map((m) => m[1]).filter((u) => /\.(js|wasm|css|svg|webmanifest)$/.test(u));
  // The stored examples of pages, for both widths (www/early.js).
  const examples = [...html.matchAll(/<main data-early="(\w+)"/g)].flatMap(([, page]) => [`examples/${page}-phone.html`, `examples/${page}-desk.html`]);
  const later = ["viewer_loader.js", "viewer.js", "viewer_bg.wasm", "worker_loader.js", "worker.js", "worker_bg.wasm", "studies_loader.js", "studies.js", "studies_bg.wasm", "lab.js", "lab_bg.wasm", "reader_loader.js", "recorder_loader.js", "recorder_worker.js", "reader.js", "reader_bg.wasm", ...examples];
  await Promise.allSettled([...new Set([...linked, ...later])].map((u) => cache.add(u)));
}

async function cacheFirst(event) {
  const cached = await caches.match(event.request, { ignoreVary: true });
  if (cached) return cached;
  const response = await fetch(event.request);
  keepBeside(event, response);
  return response;
}

async function networkFirst(event) {
  const { request } = event;
  const network = fetch(request, { cache: "no-cache" }).then((response) => {
    keepBeside(event, response);
    return response;
  });
  network.catch(() => {});
  const slow = new Promise((_, reject) => setTimeout(() => reject(new Error("slow")), NETWORK_LIMIT_MS));
  try {
    return await Promise.race([network, slow]);
  } catch {
    const cached = await caches.match(request, { ignoreVary: true, ignoreSearch: true });
    return cached ?? network;
  }
}

// The answer does not wait for its copy, and a browser without room for copies has the page all the same.
function keepBeside(event, response) {
  if (response.ok) event.waitUntil(keep(event.request, response.clone()).catch(() => {}));
}

async function keep(request, copy) {
  const cache = await caches.open(CACHE);
  const html = request.mode === "navigate" ? await copy.clone().text() : undefined;
  // Files of an older build go first: the new ones may need their room.
  if (html?.includes('id="app-module"')) await prune(cache, html);
  await cache.put(request, copy);
}

// Removes files with a hash in their name that the page no longer names.
async function prune(cache, html) {
  const names = (await cache.keys()).map((request) => [request, new URL(request.url).pathname]);
  const old = names.filter(([, path]) => HASHED.test(path) && !html.includes(path.slice(path.lastIndexOf("/") + 1)));
  await Promise.all(old.map(([request]) => cache.delete(request)));
}
