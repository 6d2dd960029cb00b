// Reloads a page that tools/serve.mjs serves after a new build. The server adds a script to the page, which listens
// to an event stream; the stream says which build is served, and why the last one failed.
import { readFile } from "node:fs/promises";

const SCRIPT_NAME = "__live.js";
const STREAM_NAME = "__live";

// Runs in the page. A service worker of an earlier visit would block the stream: the worker below replaces it, and the
// page is loaded again without it.
const SCRIPT = `let served;
navigator.serviceWorker?.addEventListener("controllerchange", () => location.reload());
const stream = new EventSource("${STREAM_NAME}");
stream.addEventListener("built", ({ data }) => {
  if (served !== undefined && served !== data) location.reload();
  served = data;
});
stream.addEventListener("failed", ({ data }) => {
  const box = document.getElementById("build-failure") ?? document.createElement("pre");
  box.id = "build-failure";
  box.setAttribute("role", "alert");
  box.textContent = data;
  document.body.prepend(box);
});
`;

// Replaces the page's own service worker, which keeps files for a visit without a network.
const SERVICE_WORKER = `self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => {
  const forget = caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))));
  event.waitUntil(forget.then(() => self.registration.unregister()));
});
`;

/** Makes the `live` option of `serve`: `built()` reloads all pages, `failed(text)` shows them a text. */
export function liveReload() {
  const pages = new Set();
  // Another start of the server is another build.
  let build = Date.now();
  const send = (page, event, data) => page.write(`event: ${event}\n${data.split("\n").map((line) => `data: ${line}\n`).join("")}\n`);
  const tell = (event, data) => pages.forEach((page) => send(page, event, data));

  async function answer(name, response, file) {
    const text = (type, body) => {
      response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store" });
      response.end(body);
    };
    if (name === SCRIPT_NAME) text("text/javascript; charset=utf-8", SCRIPT);
    else if (name === "sw.js") text("text/javascript; charset=utf-8", SERVICE_WORKER);
    else if (name === STREAM_NAME) listen(response);
    else if (name === "" || name === "index.html") {
      const page = await readFile(file, "utf8").catch(() => null);
      if (page === null) return false;
      text("text/html; charset=utf-8", page.replace("</body>", `<script type="module" src="${SCRIPT_NAME}"></script></body>`));
    } else return false;
    return true;
  }

  function listen(response) {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    pages.add(response);
    response.on("close", () => pages.delete(response));
    send(response, "built", String(build));
  }

  return {
    answer,
    built: () => tell("built", String((build += 1))),
    failed: (text) => tell("failed", text),
  };
}
