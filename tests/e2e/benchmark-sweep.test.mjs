// Sweeps on the page: listed, run over a pool, paused, cancelled, retried, kept over a reload; results explored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, download, editForm, eventually, menuEntry, openApp, waitForState, waiting } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });
const results = (page) => page.getByRole("table", { name: "Benchmark results" });
const plan = (page) => page.getByRole("table", { name: "Configurations" });
const status = (page) => page.locator(".plan summary").innerText();

// 2 batch sizes x 3 counts of workers x 4 counts of models; those of 64 models do not fit.
const SWEEP = (duration) =>
  `#/benchmark?v=1&model=nn&instance=trn1.32xlarge&batch_sizes=1,8&n_models=1,2,16,64&workers_per_model=1,2,4&duration=${duration}`;

async function reports(page) {
  return JSON.parse((await download(page, await menuEntry(page, "Download JSON"))).bytes.toString()).reports;
}

test("a sweep is listed with its estimates before it runs", app.page(async (page) => {
  await page.getByText(/24 configurations.*about [\d,]+ inferences/).waitFor();
  assert.equal(await plan(page).locator("tbody tr").count(), 24);
  assert.equal(await plan(page).locator("tbody tr").filter({ hasText: /cannot run: .*64/ }).count(), 6);
  await assertAccessible(page);
}, { hash: waiting(SWEEP(5)) }));

// Pauses while rows run, and returns the page's text then. A row can end just when it is asked to pause,
// and no other begins: then the next rows are tried.
async function pauseInARow(page) {
  const isPaused = page.getByText(/^Paused: /);
  for (let left = 8; ; left--) {
    await button(page, "Pause").click();
    await isPaused.waitFor();
    const said = await status(page);
    if (/[1-9]\d* running/.test(said) || left === 0) return said;
    await button(page, "Resume").click();
    await isPaused.waitFor({ state: "hidden" });
  }
}

test("24 configurations: paused, resumed, cancelled, retried", app.page(async (page) => {
  await page.getByText(/24 configurations.*about [\d,]+ inferences/).waitFor();
  await button(page, "Run").click();
  await waitForState(page, "running");
  const paused = await pauseInARow(page);
  assert.match(paused, /[1-9]\d* running/, "nothing was left to pause");
  await page.waitForTimeout(1_500);
  assert.equal(await status(page), paused, "a paused sweep goes on");
  await button(page, "Resume").click();
  await page.waitForFunction(() => /[1-9]\d* finished/.test(document.querySelector(".plan summary")?.textContent));
  await button(page, "Cancel").click();
  await page.getByText("Cancelled.").waitFor();
  await waitForState(page, "idle");
  const partial = await reports(page);
  assert.ok(partial.length > 0 && partial.length <= 24, `${partial.length} rows after the cancel`);
  const finished = partial.filter((r) => r.status === "finished").length;
  assert.ok(finished > 0 && finished < 18, `${finished} finished before the cancel`);
  await button(page, "Retry failed").click();
  await waitForState(page, "done", { timeout: 240_000 });
  const all = await reports(page);
  assert.equal(all.length, 24);
  assert.equal(all.filter((r) => r.status === "finished").length, 18);
  assert.equal(all.filter((r) => /64/.test(r.error ?? "")).length, 6);
}, { hash: waiting(SWEEP(60)) }));

test("the number of workers does not affect the results", app.page(async (page, url) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  const many = (await download(page, await menuEntry(page, "Download JSON"))).bytes;
  const context = await page.context().browser().newContext({ acceptDownloads: true });
  await context.addInitScript(() => Object.defineProperty(navigator, "hardwareConcurrency", { get: () => 1 }));
  const other = await context.newPage();
  // A link whose fields can all be used runs by itself.
  await openApp(other, url + SWEEP(2));
  await waitForState(other, "done");
  const one = (await download(other, await menuEntry(other, "Download JSON"))).bytes;
  await context.close();
  assert.deepEqual(one.toString(), many.toString());
}, { hash: waiting(SWEEP(2)) }));

test("a sweep that was cut off is offered again, or finished where its link asks for it", app.page(async (page, url) => {
  await button(page, "Run").click();
  await page.waitForFunction(() => /[2-9]\d* finished/.test(document.querySelector(".plan summary")?.textContent));
  await page.goto("about:blank");
  await openApp(page, `${url}#/benchmark`);
  const kept = page.getByRole("region", { name: "From an earlier visit" });
  await kept.getByText(/nn on trn1\.32xlarge: \d+ of 24 configurations are done/).waitFor();
  await kept.getByRole("button", { name: "Resume the rest" }).waitFor();
  await assertAccessible(page);
  // Its link continues it.
  await page.goto("about:blank");
  await openApp(page, url + SWEEP(10));
  await waitForState(page, "done", { timeout: 240_000 });
  const rows = await reports(page);
  assert.equal(rows.filter((r) => r.status === "finished").length, 18);
  assert.equal(rows.length, 24);
  // Finished rows are shown again without another run, and can be discarded.
  await page.reload();
  await kept.getByText(/Saved; shown below/).waitFor();
  await waitForState(page, "done");
  assert.deepEqual(await reports(page), rows);
  await kept.getByRole("button", { name: "Discard" }).click();
  await kept.waitFor({ state: "detached" });
  await page.goto("about:blank");
  await openApp(page, `${url}#/benchmark`);
  assert.equal(await kept.count(), 0);
}, { hash: waiting(SWEEP(10)) }));

test("a cut-off sweep is resumed by keyboard", app.page(async (page, url) => {
  await button(page, "Run").click();
  await page.waitForFunction(() => /[2-9]\d* finished/.test(document.querySelector(".plan summary")?.textContent));
  await page.goto("about:blank");
  await openApp(page, `${url}#/benchmark`);
  await page.getByRole("button", { name: "Resume the rest" }).focus();
  await page.keyboard.press("Enter");
  await waitForState(page, "done", { timeout: 240_000 });
  assert.equal((await reports(page)).length, 24);
}, { hash: waiting(SWEEP(10)) }));

test("a link that measures this processor waits for Run", app.page(async (page) => {
  await page.getByText(/configurations?/).first().waitFor();
  await page.getByText("No results yet").waitFor();
  assert.equal(await button(page, "Run").isEnabled(), true);
}, { hash: "#/benchmark?v=1&model=nn&duration=1&n_models=1&workers_per_model=1&device_type=cpu" }));

test("columns are chosen by keyboard and remembered, rows are filtered by conditions", app.page(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  const heads = async () => results(page).locator("thead th").count();
  const usual = await heads();
  await page.locator(".chooser summary").focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("load_avg_ms", { exact: true }).focus();
  await page.keyboard.press("Space");
  // Chosen columns stay, also those in which all rows are alike.
  const chosen = await heads();
  assert.ok(chosen > usual);
  await button(page, "All columns").click();
  assert.ok((await heads()) > 60);
  await button(page, "Usual columns").click();
  await page.getByLabel("load_avg_ms", { exact: true }).check();
  const filter = page.getByLabel("Filter Benchmark results");
  await filter.fill("n_models=16 batch_size>1");
  await page.getByText("3 of 24 rows match.").waitFor();
  assert.equal(await results(page).locator("tbody tr").count(), 3);
  await filter.fill("modles=16");
  await page.getByText(/'modles' is not a column/).waitFor();
  await assertAccessible(page);
  await filter.fill("");
  // The finished results of a link are shown again, in the chosen columns.
  await page.evaluate(() => history.replaceState(null, "", location.href.replace("&v=none", "")));
  await page.reload();
  await waitForState(page, "done");
  assert.equal(await heads(), chosen);
}, { hash: waiting(SWEEP(2)) }));

test("the verdict, the Pareto front, scaling and the charts of a configuration", app.page(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  assert.match(await page.locator(".verdict").innerText(), /[Hh]ighest throughput.*6 of 24 configurations failed/);
  const figure = (name) => page.locator("figure", { has: page.locator("figcaption", { hasText: name }) });
  const scatter = figure("Throughput over latency");
  await scatter.locator("svg[tabindex]").focus();
  await page.keyboard.press("Home");
  // The arrow keys walk along the points; the readout says which of them are on the Pareto front.
  const said = [];
  for (let i = 0; i < 18; i++) {
    said.push(await scatter.getByRole("status").innerText());
    await page.keyboard.press("ArrowRight");
  }
  assert.ok(said.some((text) => text.includes("on the Pareto front")), `${said}`);
  await page.getByText("ideal", { exact: true }).first().waitFor();
  const time = figure("Throughput over time").locator("svg[tabindex]");
  await time.focus();
  await page.keyboard.press("ArrowRight");
  await figure("Throughput over time").getByText(/Second of the run 1, Throughput/).waitFor();
  await results(page).locator("tbody tr").nth(1).getByRole("button").click();
  await eventually(async () => assert.match(await page.locator("#configuration option:checked").innerText(), /2 models, 1 worker each, batch 1/));
  await figure("Latency histogram").waitFor();
  await assertAccessible(page);
}, { hash: waiting(SWEEP(3)) }));

test("results of NeuronPerf come into the same table, marked", app.page(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  const csv =
    "model_name,n_models,workers_per_model,pipeline_size,batch_size,throughput_avg,throughput_peak,latency_ms_p0,latency_ms_p50,latency_ms_p90,latency_ms_p95,latency_ms_p99,latency_ms_p100\n" +
    "bert,1,1,1,1,307.25,308,3.1,3.251,3.26,3.27,3.277,4\nbert,16,1,1,1,2746,2750,5.1,5.641,6.1,6.5,6.82,9\n";
  await page.locator("#open-file").setInputFiles({ name: "neuron_b1.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByText(/2 rows were imported from neuron_b1\.csv/).waitFor();
  assert.equal(await results(page).locator("tbody tr").count(), 6);
  assert.equal((await reports(page)).filter((r) => r.source === "imported").length, 2);
  await button(page, "Remove imported rows").click();
  await eventually(async () => assert.equal(await results(page).locator("tbody tr").count(), 4));
}, { hash: waiting("#/benchmark?v=1&model=nn&duration=1") }));

test("a system given by its stage times runs on an instance that is not simulated", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Model", { exact: true }).fill("fixed");
  await page.getByLabel("Device (ms)", { exact: true }).fill("2.895");
  await page.getByLabel("Host (ms)", { exact: true }).fill("0.216");
  await page.getByLabel("Transfer (ms)", { exact: true }).fill("0.140");
  await page.getByLabel("Instance types").fill("inf1.6xlarge");
  await page.getByLabel("Models", { exact: true }).fill("1,16");
  await button(page, "Run").click();
  await waitForState(page, "done");
  const rows = await reports(page);
  assert.deepEqual(rows.map((r) => r.status), ["finished", "finished", "finished", "finished"]);
  // The published row of one model and one worker: 307.25/s.
  assert.ok(Math.abs(rows[0].throughput_avg / 307.25 - 1) < 0.05, `${rows[0].throughput_avg}`);
  assert.match(page.url(), /model=fixed:device_ms=2\.895,host_ms=0\.216,transfer_ms=0\.140/);
}, { hash: waiting("#/benchmark?v=1&model=nn&duration=10") }));

test("every run option is in the form and in the link", app.page(async (page) => {
  await editForm(page);
  await page.locator("form summary:not(.button)").first().click();
  await page.getByLabel("Processes").selectOption("shared");
  await page.getByLabel("Preprocess").fill("0.25ms");
  await page.getByLabel("Dataset").fill("500,loop");
  await page.getByLabel("Duration counts").selectOption("original");
  await page.getByLabel("everything").check();
  await page.getByLabel("matrix products").uncheck();
  await page.waitForFunction(() => /auto_cast=all&.*processes=shared.*preprocess=0\.25ms.*dataset=500,loop.*accounting=original/.test(location.hash));
  await assertAccessible(page);
  await button(page, "Run").click();
  await waitForState(page, "done");
  assert.ok((await reports(page)).every((r) => r.multiprocess === false && r.preprocess_avg_ms > 0.2));
}, { hash: waiting("#/benchmark?v=1&model=nn&duration=2") }));

test("the processor is measured, a worker for each copy, and the rows say so", app.page(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  const rows = await reports(page);
  assert.deepEqual(rows.map((r) => [r.n_models, r.status, r.device_type, r.source]), [[1, "finished", "cpu", "measured"], [2, "finished", "cpu", "measured"]]);
  assert.ok(rows.every((r) => r.throughput_avg > 0 && r.latency_samples > 10));
  assert.match(rows[0].machine, /hardware threads, .*clock resolution \d+ ns/);
  await page.getByText(/measured, .*clock resolution/).waitFor();
}, { hash: waiting("#/benchmark?v=1&model=nn&duration=1&n_models=1,2&workers_per_model=1&device_type=cpu") }));
