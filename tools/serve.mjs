// A static file server for dist/, for development and the browser tests. Run: node tools/serve.mjs [--port N]
// It listens on 127.0.0.1 only, and can serve the folder under a sub-path, as a hosted copy would be.
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".gz": "application/gzip",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".md": "text/markdown; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

// Trunk puts a hash of the content into these names; everything else may change under the same name.
const HASHED = /-[0-9a-f]{12,16}[._]/;
const PORTS_TO_TRY = 100;

function headersFor(path) {
  return {
    "Content-Type": TYPES[extname(path)] ?? "application/octet-stream",
    "Cache-Control": HASHED.test(path) ? "public, max-age=31536000, immutable" : "no-store",
    // Cross-origin isolation: finer timers where the browser allows them.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    // A page cannot say this of itself.
    "Content-Security-Policy": "frame-ancestors 'none'",
  };
}

// The file a request names, or null when it is outside the folder or the sub-path.
function fileFor(url, root, base) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return null;
  }
  if (!path.startsWith(base) || path.includes("\0")) return null;
  const name = path.slice(base.length);
  const file = normalize(join(root, name === "" || name.endsWith("/") ? `${name}index.html` : name));
  return file.startsWith(root + sep) ? file : null;
}

// The name of a file within the sub-path, as an address has it.
const nameIn = (url, base) => new URL(url, "http://localhost").pathname.slice(base.length);

async function answer(request, response, { root, base, live, compressed }) {
  const send = (status, text, headers = {}) => {
    response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", ...headers });
    response.end(text);
  };
  if (request.method !== "GET" && request.method !== "HEAD") return send(405, "method not allowed\n", { Allow: "GET, HEAD" });
  if (base !== "/" && request.url === base.slice(0, -1)) return send(301, "", { Location: base });
  const file = fileFor(request.url, root, base);
  if (live && file && (await live.answer(nameIn(request.url, base), response, file))) return;
  const info = file && (await stat(file).catch(() => null));
  if (!info?.isFile()) return send(404, "not found\n");
  if (compressed && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "") && !file.endsWith(".gz")) {
    if (!compressed.has(file)) compressed.set(file, gzipSync(await readFile(file), { level: 9 }));
    const bytes = compressed.get(file);
    response.writeHead(200, { ...headersFor(file), "Content-Encoding": "gzip", "Content-Length": bytes.length });
    return response.end(request.method === "HEAD" ? undefined : bytes);
  }
  response.writeHead(200, { ...headersFor(file), "Content-Length": info.size });
  if (request.method === "HEAD") return response.end();
  createReadStream(file).on("error", (error) => response.destroy(error)).pipe(response);
}

function listen(server, port) {
  return new Promise((resolved, rejected) => {
    server.once("error", rejected);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", rejected);
      resolved(server.address().port);
    });
  });
}

/**
 * Serves the folder `dir` under the path `base` ("/" or "/some/path/") on 127.0.0.1. When `port` is taken the next
 * free one is used; 0 is any free port. `live` (tools/live.mjs) makes pages load again when they were built anew. `compresses`
 * sends files as gzip, as hosts of pages do. Gives the page's `url`, the `port` and `close()`.
 */
export async function serve({ dir, base = "/", port = 0, live, compresses = false }) {
  const root = resolve(dir);
  const compressed = compresses ? new Map() : undefined;
  const server = createServer((request, response) => {
    answer(request, response, { root, base, live, compressed }).catch((error) => response.destroy(error));
  });
  let bound;
  for (let candidate = port; bound === undefined; candidate += 1) {
    try {
      bound = await listen(server, candidate);
    } catch (error) {
      const last = candidate >= Math.min(65535, port + PORTS_TO_TRY);
      if (error.code !== "EADDRINUSE" || last) throw error;
    }
  }
  const close = () =>
    new Promise((resolved) => {
      server.close(resolved);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${bound}${base}`, port: bound, close };
}

/** The number of a port as a person gives it. */
export function portOf(text) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Error(`--port ${text}: a port is a whole number from 0 to 65535`);
  }
  return port;
}

async function main() {
  const { values } = parseArgs({
    options: {
      dir: { type: "string", default: fileURLToPath(new URL("../dist", import.meta.url)) },
      base: { type: "string", default: "/" },
      port: { type: "string", default: "8080" },
    },
  });
  const port = portOf(values.port);
  const served = await serve({ dir: values.dir, base: values.base, port });
  if (port !== 0 && served.port !== port) console.log(`Port ${port} is taken: using ${served.port}.`);
  console.log(`neuronscope is at ${served.url}  (Ctrl-C ends it)`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(`serve: ${error.message}`);
    process.exit(1);
  });
}
