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
