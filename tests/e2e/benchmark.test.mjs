// The benchmark page: run, cancel, read, download, share.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, download, editForm, eventually, menuEntry, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });
const results = (page) => page.getByRole("table", { name: "Benchmark results" });

async function run(page) {
  await button(page, "Run").click();
  await waitForState(page, "done");
}

test("the untouched form runs NeuronPerf's four configurations", app.page(async (page) => {
  assert.equal(await (await menuEntry(page, "Download JSON")).isDisabled(), true);
  await run(page);
  assert.equal(await results(page).locator("tbody tr").count(), 4);
  await assertAccessible(page);
}));

test("micro-batches can be chosen for a training step, and go with it", app.page(async (page) => {
  await editForm(page);
  const field = page.getByLabel("Accumulate", { exact: true });
  assert.equal(await field.count(), 0);
  await page.getByLabel("Training", { exact: true }).selectOption("sgd");
  await field.fill("8");
  await run(page);
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes("model=nn:training=sgd,accumulate=8"));
  await editForm(page);
  await page.getByLabel("Training", { exact: true }).selectOption("none");
  await field.waitFor({ state: "detached" });
  await run(page);
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes("model=nn&"));
}));

test("JSON and CSV hold the rows of the table", app.page(async (page) => {
  await run(page);
  const json = await download(page, await menuEntry(page, "Download JSON"));
  const { reports } = JSON.parse(json.bytes.toString());
  assert.deepEqual(reports.map((r) => [r.n_models, r.workers_per_model]), [[1, 1], [2, 1], [1, 2], [2, 2]]);
  const csv = await download(page, await menuEntry(page, "Download CSV"));
  assert.equal(csv.bytes.toString().trim().split("\n").length, 5);
  assert.match(json.name, /^nn\.results-\d{8}-\d{6}\.json$/);
  assert.match(csv.name, /^nn\.results-\d{8}-\d{6}\.csv$/);
  // The bare array of NeuronPerf, with its keys only.
  const array = JSON.parse((await download(page, await menuEntry(page, "Download NeuronPerf JSON"))).bytes.toString());
  assert.deepEqual(array.map((r) => r.throughput_avg), reports.map((r) => r.throughput_avg));
  assert.equal("throughput_window" in array[0], false);
}));

test("a link in a new browser shows the same form and runs by itself to the same bytes", app.page(async (page, url) => {
  await editForm(page);
  await page.getByLabel("Duration (s)").fill("3");
  await page.getByLabel("Seed", { exact: true }).fill("42");
  await page.getByLabel("Models", { exact: true }).fill("1,2");
  await run(page);
  const first = await download(page, await menuEntry(page, "Download JSON"));
  await (await menuEntry(page, "Copy link")).click();
  await page.getByText(/^The link is in the clipboard/).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#\/benchmark\?v=1&model=nn&.*n_models=1,2&.*duration=3&seed=42/);
  assert.ok(link.startsWith(url));

  const other = await (await page.context().browser().newContext()).newPage();
  await openApp(other, link);
  await editForm(other);
  assert.equal(await other.getByLabel("Seed", { exact: true }).inputValue(), "42");
  await waitForState(other, "done");
  const second = await download(other, await menuEntry(other, "Download JSON"));
  assert.deepEqual(second.bytes, first.bytes);
  await other.context().close();
}, { context: { permissions: ["clipboard-read", "clipboard-write"] } }));

test("wrong fields are explained beside them, and nothing runs", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Duration (s)").fill("-1");
  const field = page.getByLabel("Duration (s)");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.match(await page.locator("#bench-duration-note").innerText(), /not allowed/);
  await button(page, "Run").click();
  assert.equal(await field.evaluate((e) => e === document.activeElement), true);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "idle");
  await assertAccessible(page);
}));

test("wrong values of a link are named, with what is used", app.page(async (page) => {
  await page.getByText(/seed: 'minus one'.*0 is used/).waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Seed", { exact: true }).inputValue(), "0");
  assert.equal(await page.getByLabel("Duration (s)").inputValue(), "5");
}, { hash: "#/benchmark?v=1&seed=minus%20one&duration=5&unknown=1" }));

test("the table sorts by its heads and is filtered", app.page(async (page) => {
  await run(page);
  const head = results(page).getByRole("button", { name: /^Throughput avg/ });
  await head.click();
  const values = async () => results(page).locator("tbody tr td:nth-child(3)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value)));
  const down = (await values()).sort((a, b) => b - a);
  await eventually(async () => assert.deepEqual(await values(), down));
  await head.click();
  await eventually(async () => assert.deepEqual(await values(), [...down].reverse()));
  await page.getByLabel("Filter Benchmark results").fill("no such row");
  await page.getByText("0 of 4 rows match.").waitFor();
}));

test("a failed configuration is a row with its reason, the others run", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Models", { exact: true }).fill("1,64");
  await page.getByLabel("Duration (s)").fill("1");
  await run(page);
  assert.equal(await results(page).locator("tbody tr").filter({ hasText: /error: .*64/ }).count(), 2);
  assert.equal(await results(page).locator("tbody tr").filter({ hasText: /finished/ }).count(), 2);
}));

test("a run is cancelled and the next one works", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Duration (s)").fill("3600");
  await page.getByLabel("Workers per model").fill("1,2,4,8");
  await button(page, "Run").click();
  await waitForState(page, "running");
  await button(page, "Cancel").click();
  await waitForState(page, "idle");
  await page.getByText("Cancelled.").waitFor();
  await editForm(page);
  await page.getByLabel("Duration (s)").fill("1");
  await page.getByLabel("Workers per model").fill("");
  await run(page);
  assert.equal(await results(page).locator("tbody tr").count(), 4);
}));

test("products that the compiler removed are reported while the benchmark runs, and the note can be dismissed", app.page(async (page) => {
  // The link runs by itself.
  await waitForState(page, "done");
  const notes = page.getByRole("list", { name: "Notes of this run" });
  await notes.getByText(/the compiler removed 7 of 8 products/).waitFor();
  // Every worker found it; it is shown once.
  assert.equal(await notes.getByText(/the compiler removed/).count(), 1);
  await assertAccessible(page);
  await notes.getByRole("button", { name: /^Dismiss: .*removed/ }).click();
  await notes.getByText(/the compiler removed/).waitFor({ state: "detached" });
  // Another run says it again, even if the model is compiled already.
  await button(page, "Run").click();
  await notes.getByText(/the compiler removed 7 of 8 products/).waitFor();
}, { hash: "#/benchmark?v=1&model=matmult%3An%3D256%2Cloop_count%3D8%2Cchained%3Dfalse" }));

test("the notes of a run are on the page", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Duration (s)").fill("1");
  await run(page);
  const notes = page.getByRole("list", { name: "Notes of this run" });
  await notes.waitFor();
  assert.match(await notes.innerText(), /no full second/);
  await editForm(page);
  await page.getByLabel("Duration (s)").fill("60");
  await run(page);
  await notes.waitFor({ state: "detached" });
  await assertAccessible(page);
}));
