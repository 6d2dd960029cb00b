// After one visit the page works without a network.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, eventually, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();

test("a second visit needs no network", app.page(async (page, url) => {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(async () => {
    const cache = await caches.open("neuronscope-1");
    const paths = (await cache.keys()).map((r) => new URL(r.url).pathname);
    return paths.some((p) => p.endsWith("worker_bg.wasm")) && paths.some((p) => /app-[0-9a-f]+_bg\.wasm$/.test(p));
  });
  await page.context().setOffline(true);
  await openApp(page, `${url}?offline#/benchmark`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  // The page has run its example before, so it may say that it is done a moment longer.
  const rows = page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr");
  await eventually(async () => assert.equal(await rows.count(), 24));
  await waitForState(page, "done");
  // The service worker tries the network first for the page and the worker's files.
}, { allow: [/ERR_INTERNET_DISCONNECTED/], context: { serviceWorkers: "allow" } }));

test("the copy for days without a network begins when the page has its first result", app.page(async (page, url) => {
  await page.addInitScript(() => {
    const { register } = ServiceWorkerContainer.prototype;
    ServiceWorkerContainer.prototype.register = function (...args) {
      window.stateAtCopy = document.documentElement.dataset.state;
      return register.apply(this, args);
    };
  });
  await page.goto(`${url}#/benchmark`);
  await page.waitForFunction(() => "stateAtCopy" in window);
  assert.equal(await page.evaluate(() => window.stateAtCopy), "done");
}, { open: false, context: { serviceWorkers: "allow" } }));

const withWorker = { open: false, context: { serviceWorkers: "allow" } };
const hasCopy = (page) => eventually(async () => assert.ok(await page.evaluate(async () => {
  const paths = (await (await caches.open("neuronscope-1")).keys()).map((r) => new URL(r.url).pathname);
  return Boolean(navigator.serviceWorker.controller) && paths.some((p) => /app-[0-9a-f]+_bg\.wasm$/.test(p));
})));

test("files of an older build leave the copy when the page is visited again", app.page(async (page, url) => {
  await openApp(page, url);
  await hasCopy(page);
  const paths = () => page.evaluate(async () => (await (await caches.open("neuronscope-1")).keys()).map((r) => new URL(r.url).pathname));
  await page.evaluate(async () => (await caches.open("neuronscope-1")).put("./app-0123456789abcdef.js", new Response("old")));
  const before = await paths();
  assert.ok(before.some((p) => p.endsWith("/app-0123456789abcdef.js")));
  await page.reload();
  await eventually(async () => assert.ok(!(await paths()).some((p) => p.endsWith("/app-0123456789abcdef.js"))));
  const gone = before.filter((p) => /-[0-9a-f]{12,}/.test(p) && !p.endsWith("/app-0123456789abcdef.js"));
  const after = await paths();
  assert.deepEqual(gone.filter((p) => !after.includes(p)), [], "files of this build stay");
}, withWorker));

test("a browser without room for the copy shows the page, on every visit", app.page(async (page, url) => {
  await page.goto(`${url}icon.svg`);
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", { origin: new URL(url).origin, quotaSize: 1_000_000 });
  for (let visit = 0; visit < 3; visit += 1) {
    await openApp(page, `${url}?visit=${visit}`);
    await waitForState(page, "idle");
    await page.evaluate(() => navigator.serviceWorker.getRegistration().then((known) => known && navigator.serviceWorker.ready.then(() => true)));
  }
}, withWorker));

test("an address that no page has fetches no example", app.page(async (page, url) => {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await openApp(page, `${url}#/nowhere`);
  await page.waitForLoadState("networkidle");
  assert.deepEqual(asked.filter((address) => address.includes("examples/")), []);
}, { open: false }));
