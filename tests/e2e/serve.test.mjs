// The static server that development and these tests use, and the one of the command line.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { serve } from "../../tools/serve.mjs";
import { DIST, launch, openApp, waitForState } from "./support/app.mjs";

let parent;
let server;

before(async () => {
  parent = mkdtempSync(join(tmpdir(), "neuronscope-serve-"));
  writeFileSync(join(parent, "secret.txt"), "not served");
  const dir = join(parent, "site");
  mkdirSync(dir);
  writeFileSync(join(dir, "index.html"), "<title>home</title>");
  writeFileSync(join(dir, "worker_bg.wasm"), "");
  writeFileSync(join(dir, "app-0123456789abcdef.js"), "");
  server = await serve({ dir, base: "/some/path/" });
});

after(async () => {
  await server?.close();
  rmSync(parent, { recursive: true });
});

// Sends the path unchanged: fetch would resolve "..".
function get(path, method = "GET") {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: server.port, path, method }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }));
    }).on("error", reject).end();
  });
}

test("serves the folder under its sub-path only", async () => {
  const home = await get("/some/path/");
  assert.equal(home.status, 200);
  assert.equal(home.text, "<title>home</title>");
  assert.equal((await get("/some/path")).headers.location, "/some/path/");
  assert.equal((await get("/")).status, 404);
  assert.equal((await get("/index.html")).status, 404);
});

test("serves nothing outside the folder", async () => {
  for (const path of ["../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "..\\secret.txt", "%00", "%"]) {
    const answer = await get(`/some/path/${path}`);
    assert.equal(answer.status, 404, path);
    assert.doesNotMatch(answer.text, /not served/);
  }
  assert.equal((await get("/some/path/", "POST")).status, 405);
});

test("names types, isolates the page, and lets only hashed names be cached", async () => {
  const wasm = await get("/some/path/worker_bg.wasm");
  assert.equal(wasm.headers["content-type"], "application/wasm");
  assert.equal(wasm.headers["cross-origin-opener-policy"], "same-origin");
  assert.equal(wasm.headers["cross-origin-embedder-policy"], "require-corp");
  assert.equal(wasm.headers["cache-control"], "no-store");
  assert.match((await get("/some/path/app-0123456789abcdef.js")).headers["cache-control"], /immutable/);
});

test("takes the next free port when the one asked for is taken", async () => {
  const second = await serve({ dir: parent, port: server.port });
  try {
    assert.ok(second.port > server.port);
  } finally {
    await second.close();
  }
});

test("the command's server opens page after page in a browser that keeps its connections", async () => {
  const command = spawn(process.env.NEURONSCOPE_CLI, ["serve", "--port", "0", "--dir", DIST], { stdio: ["ignore", "pipe", "inherit"] });
  const browser = await launch();
  try {
    const [line] = await once(createInterface(command.stdout), "line");
    const url = line.match(/http:\S+/)[0];
    for (let visit = 0; visit < 6; visit += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await openApp(page, `${url}#/llm`);
      // A file that waits for another page's connection waits until the browser drops it, minutes later.
      await page.waitForLoadState("load");
      await waitForState(page, "done");
      await context.close();
    }
  } finally {
    await browser.close();
    command.kill();
  }
});
