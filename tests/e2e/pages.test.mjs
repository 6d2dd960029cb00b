// The page is two programs: the app, and the lab, which is fetched when one of its pages is shown. The user does not notice the seam.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, editForm, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const link = (page, name) => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true });
// That of the page itself, not the one that stands in index.html before.
const heading = (page, name) => page.locator("main:not([data-early], [data-example])").getByRole("heading", { level: 1, name, exact: true });
const fetched = (page) => page.evaluate(() =>
  performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/lab_bg.wasm")).length);

test("a profile needs no lab; a page of the lab fetches it once and keeps what was on it", app.page(async (page) => {
  await waitForState(page, "idle");
  assert.equal(await fetched(page), 0);
  await link(page, "Microbenchmark").click();
  await heading(page, "Microbenchmark").waitFor();
  await editForm(page);
  await page.getByLabel("Products in a call", { exact: true }).fill("300");
  // The form is a draft: the address is that of the result beside it.
  await settledAddress(page);
  assert.doesNotMatch(await page.evaluate(() => location.hash), /loop_count=300/);
  assert.match(await page.title(), /Microbenchmark/);
  await link(page, "Numerics").click();
  await heading(page, "Numerics").waitFor();
  await link(page, "Profile").click();
  // The browser has the address before the page has its name.
  await page.waitForFunction(() => location.hash.startsWith("#/profile") && document.title.startsWith("Profile"));
  await link(page, "Microbenchmark").click();
  await heading(page, "Microbenchmark").waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Products in a call", { exact: true }).inputValue(), "300");
  assert.equal(await fetched(page), 1);
  await page.goBack();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await heading(page, "Microbenchmark").waitFor({ state: "hidden" });
  await page.goForward();
  await page.waitForFunction(() => location.hash.startsWith("#/matmult"));
  await heading(page, "Microbenchmark").waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Products in a call", { exact: true }).inputValue(), "300");
}, { hash: "#/profile?v=1" }));

test("a run on a page of the lab goes on while a profile is looked at", app.page(async (page) => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await link(page, "Profile").click();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await page.waitForTimeout(2000);
  assert.match(await page.evaluate(() => location.hash), /^#\/profile/, "the lab leaves the address of other pages alone");
  await link(page, "Benchmark").click();
  await waitForState(page, "done");
  // The page that was left says "done" until this one is drawn.
  await page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr").first().waitFor();
}, { hash: "#/benchmark?v=1" }));

test("records that are dropped beside a profile go to their page", app.page(async (page) => {
  const record = {
    model: { model_name: "tiny" },
    experiment: { accelerator: "cpu", accelerator_model: "x", xla: null, dynamo: null, test: "eval", batch_size: 1 },
    metrics: { total_time: [0.5, 0.25] }, repeat: 2, iterations_per_run: 1, timestamp: 1700000000, outputs_file: null,
  };
  const buffer = Buffer.from(`${JSON.stringify(record)}\n`);
  await page.locator("#open-file").setInputFiles({ name: "results.jsonl", mimeType: "application/jsonl", buffer });
  await heading(page, "Experiments").waitFor();
  await page.getByText(/results\.jsonl, .*: 1 records/).waitFor();
}, { hash: "#/profile?v=1" }));

test("a lab that cannot be fetched says so, and the next click tries again", app.page(async (page, url) => {
  await page.route("**/lab_bg.wasm", (route) => route.abort());
  // The stored example that comes after the failure does not stand in front of it.
  const example = page.waitForResponse("**/examples/numerics-*.html");
  await page.route("**/examples/numerics-*.html", async (route) => {
    await waitForState(page, "failed");
    await route.continue();
  }, { times: 1 });
  await openApp(page, `${url}#/profile`);
  await link(page, "Numerics").click();
  await (await example).finished();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await waitForState(page, "failed");
  await page.getByRole("alert").filter({ hasText: "could not be loaded" }).waitFor();
  await page.unroute("**/lab_bg.wasm");
  await link(page, "Profile").click();
  await link(page, "Numerics").click();
  await heading(page, "Numerics").waitFor();
}, { open: false, context: { serviceWorkers: "block" }, allow: [/lab_bg\.wasm/, /ERR_FAILED/, /Failed to fetch/] }));
