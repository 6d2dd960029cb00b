// The readers of model files are a separate program, which a worker fetches when a model file is read.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { DIST, appFixture, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const MODELS = fileURLToPath(new URL("../it/fixtures/models/", import.meta.url));
const ONNX = { name: "nn.onnx", buffer: readFileSync(`${MODELS}onnx/nn-442--torch2.9.1.onnx`) };
const PT2 = { name: "nn.pt2", buffer: gunzipSync(readFileSync(`${MODELS}pt2/nn-442--torch2.9.1.pt2.gz`)) };
const file = ({ name, buffer }) => ({ name, mimeType: "application/octet-stream", buffer });

// The service worker fetches the program beforehand, for later visits without a network. It is switched off here, so only workers ask for it.
const alone = { serviceWorkers: "block" };

/** Addresses of the program that workers of the page request, in order of the requests. */
function fetches(page) {
  const found = [];
  page.context().on("request", (request) => {
    if (request.url().endsWith("/reader_bg.wasm")) found.push(request.url());
  });
  return found;
}

const show = (page, model) => page.locator("#open-file").setInputFiles(file(model));

/** Waits until a model file is shown on its page. */
async function shown(page, { name }) {
  await page.locator(".form-bar .what", { hasText: name }).waitFor();
  await waitForState(page, "done");
}

test("the readers are fetched when the first model file is read, and once", app.page(async (page, url) => {
  const asked = fetches(page);
  await openApp(page, `${url}#/inspect?model=nn`);
  await waitForState(page, "done");
  assert.equal(asked.length, 0, "a model of the list needs no reader");
  await show(page, ONNX);
  await shown(page, ONNX);
  assert.equal(asked.length, 1);
  await show(page, PT2);
  await shown(page, PT2);
  assert.equal(asked.length, 1);
}, { open: false, context: alone }));

test("a sweep of a model file over all instances reads it in at most two workers", app.page(async (page, url) => {
  const asked = fetches(page);
  await openApp(page, `${url}#/benchmark?v=1`);
  await show(page, ONNX);
  await page.getByText(/nn\.onnx is open: \d+ parameters/).waitFor();
  // A dropped model runs by itself.
  const rows = page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr");
  await rows.first().waitFor();
  await waitForState(page, "done");
  assert.ok((await rows.count()) > 1);
  assert.equal(await rows.filter({ hasNotText: /fail/i }).count(), await rows.count());
  // The worker that opened it, and one that compiles for a further instance.
  assert.ok(asked.length <= 2, `${asked.length} workers read the file`);
}, { open: false, context: alone }));

test("readers that cannot be fetched are an error that says so, and the next try fetches them", app.page(async (page, url) => {
  await page.context().route("**/reader_bg.wasm", (route) => route.abort());
  await openApp(page, `${url}#/inspect?model=nn`);
  await waitForState(page, "done");
  await show(page, ONNX);
  await waitForState(page, "failed");
  await page.getByText(/nn\.onnx: the part of the page that reads model files could not be fetched .*connect to the network/).first().waitFor();
  await page.context().unroute("**/reader_bg.wasm");
  await show(page, ONNX);
  await shown(page, ONNX);
}, { open: false, context: alone, allow: [/reader_bg\.wasm/, /ERR_FAILED/] }));

test("a damaged program of readers is an error, not the end of the worker", app.page(async (page, url) => {
  await page.context().route("**/reader_bg.wasm", (route) => route.fulfill({ contentType: "application/wasm", body: "no wasm" }));
  await openApp(page, `${url}#/inspect?model=nn`);
  await waitForState(page, "done");
  await show(page, ONNX);
  await waitForState(page, "failed");
  await page.getByText(/the part of the page that reads model files does not start.*reload the page/).first().waitFor();
}, { open: false, context: alone }));

test("after one visit a model file is read without a network", app.page(async (page, url) => {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(async () => {
    const cache = await caches.open("neuronscope-1");
    const paths = (await cache.keys()).map((r) => new URL(r.url).pathname);
    return ["lab_bg.wasm", "worker_bg.wasm", "studies_bg.wasm", "reader_loader.js", "reader.js", "reader_bg.wasm"].every((name) => paths.some((p) => p.endsWith(`/${name}`)));
  });
  await page.context().setOffline(true);
  await openApp(page, `${url}?offline#/inspect?model=nn`);
  await waitForState(page, "done");
  await show(page, ONNX);
  await shown(page, ONNX);
}, { allow: [/ERR_INTERNET_DISCONNECTED/], context: { serviceWorkers: "allow" } }));

test("the worker holds no reader, and the program of readers no simulator", () => {
  const held = (name) => readFileSync(`${DIST}/${name}`).toString("latin1");
  const files = readdirSync(DIST);
  assert.ok(files.includes("worker_bg.wasm") && files.includes("reader_bg.wasm"));
  // A name that the reader of each format looks for: of ONNX, torch.export, TorchScript, HLO. The words of their errors are in both.
  for (const name of ["NonMaxSuppression", "user_output", "code/__torch__", "backend_config"]) {
    assert.ok(held("reader_bg.wasm").includes(name), name);
    for (const worker of ["worker", "studies"]) assert.ok(!held(`${worker}_bg.wasm`).includes(name), `${worker} has the reader of ${name}`);
  }
  assert.ok(!held("reader_bg.wasm").includes("inf2.xlarge"), "the reader knows no instance");
});

test("a trace is on the screen before anything of the simulator is fetched", app.page(async (page, url) => {
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").at(-1)));
  await openApp(page, `${url}#/`);
  const two = [1, 4].map((ts) => ({ ph: "X", name: "dot", ts, dur: 2, pid: 1, tid: 1 }));
  await show(page, { name: "two.json", buffer: Buffer.from(JSON.stringify(two)) });
  await waitForState(page, "done");
  assert.ok(asked.includes("viewer_bg.wasm"), asked.join());
  const others = asked.filter((name) => /^(worker|studies|lab|reader)(_loader|_bg)?\.(js|wasm)$/.test(name));
  assert.deepEqual(others, []);
}, { open: false, context: alone }));

test("a page fetches the worker that it needs, and no other", app.page(async (page, url) => {
  for (const [hash, needed, other] of [["#/benchmark", "worker", "studies"], ["#/llm?run=1", "studies", "worker"]]) {
    const asked = [];
    const note = (request) => asked.push(new URL(request.url()).pathname.split("/").at(-1));
    page.on("request", note);
    await page.goto("about:blank");
    await openApp(page, `${url}${hash}`);
    await waitForState(page, "done");
    page.off("request", note);
    assert.ok(asked.includes(`${needed}_bg.wasm`), `${hash}: ${asked.join()}`);
    assert.ok(!asked.includes(`${other}_bg.wasm`), `${hash}: ${asked.join()}`);
  }
}, { open: false, context: alone }));
