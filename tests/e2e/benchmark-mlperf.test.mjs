// MLPerf scenarios and model indexes on the page: the command line's results, verdicts with their reasons.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appFixture, assertAccessible, download, editForm, menuEntry, openApp, waitForState, waiting } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });

function commandLine(args) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  return execFileSync(process.env.NEURONSCOPE_CLI, args, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();
}

const SYSTEM = "model=fixed:device_ms=10&instance=inf1.6xlarge&n_models=4&workers_per_model=1";
const FLAGS = ["bench", "--model", "fixed", "--device-ms", "10", "--instance", "inf1.6xlarge", "--n-models", "4", "--workers-per-model", "1"];

test("a Server is searched: verdict and the command line's numbers", app.page(async (page) => {
  await editForm(page);
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByLabel("Scenario").selectOption("Server");
  // Without a latency bound nothing runs, and the field says why.
  await button(page, "Run").click();
  assert.match(await page.locator("#bench-latency_bound_ms-note").innerText(), /needs a latency bound/);
  await editForm(page);
  await page.getByLabel("Latency bound (ms)").fill("40");
  await page.getByLabel("Minimum duration (s)").fill("20");
  await page.waitForFunction(() => /scenario=Server&min_duration=20&latency_bound_ms=40/.test(location.hash));
  await button(page, "Run").click();
  await waitForState(page, "done");
  const { bytes } = await download(page, button(page, "Download MLPerf JSON"));
  const printed = commandLine([...FLAGS, "--scenario", "Server", "--min-duration", "20", "--latency-bound-ms", "40", "--json"]);
  assert.equal(bytes.toString(), printed);
  const [result] = JSON.parse(printed).results;
  assert.equal(result.result, "VALID");
  const card = page.locator(".scenario");
  assert.match(await card.innerText(), /Result is VALID/);
  assert.ok((await card.innerText()).includes(`${result.queries} queries`));
  assert.equal(await card.locator(".limits .is-kept").count(), 4);
  await assertAccessible(page);
}, { hash: waiting(`#/benchmark?v=1&${SYSTEM}`) }));

test("too few queries are INVALID with the reason, and a configuration that cannot run says so beside it", app.page(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  const cards = page.locator(".scenario");
  assert.equal(await cards.count(), 2);
  assert.match(await cards.nth(0).innerText(), /Result is INVALID[\s\S]*early stopping[\s\S]*needs 64/);
  assert.match(await cards.nth(1).innerText(), /64 models x 1 worker[\s\S]*needs 64 NeuronCores/);
  await page.getByText("0 of 2 valid.").waitFor();
}, { hash: waiting("#/benchmark?v=1&model=fixed:device_ms=10&instance=inf1.6xlarge&n_models=1,64&workers_per_model=1&scenario=SingleStream&min_duration=0.1&min_queries=10") }));

test("a scenario is cancelled in its run", app.page(async (page) => {
  await button(page, "Run").click();
  await page.getByText(/Server: .*16 models x 4 workers, try \d+ of 12/).first().waitFor();
  await button(page, "Cancel").click();
  await waitForState(page, "idle");
  await page.getByText("Cancelled.").waitFor();
  await button(page, "Run").click();
  await waitForState(page, "running");
  await button(page, "Cancel").click();
  await waitForState(page, "idle");
}, { hash: waiting("#/benchmark?v=1&model=fixed:device_ms=0.1&instance=inf1.6xlarge&n_models=16&workers_per_model=4&scenario=Server&latency_bound_ms=5&min_duration=60") }));

const TWO = "#/benchmark?v=1&model=fixed:device_ms=0.1&instance=inf1.6xlarge&n_models=1,16&workers_per_model=4&scenario=Server&latency_bound_ms=5&min_duration=20";

test("a scenario is paused, cut off by a reload, and continues with its finished rows", app.page(async (page, url) => {
  await button(page, "Run").click();
  const cards = page.locator(".scenario");
  await cards.first().waitFor();
  await button(page, "Pause").click();
  await page.getByText(/^Paused: 1 of 2 configurations/).waitFor();
  const first = await cards.first().innerText();
  await button(page, "Resume").click();
  await page.goto("about:blank");
  await openApp(page, `${url}#/benchmark`);
  const kept = page.getByRole("region", { name: "From an earlier visit" });
  await kept.getByText(/MLPerf Server, fixed:device_ms=0.1 on inf1\.6xlarge: 1 of 2 configurations are done/).waitFor();
  await kept.getByRole("button", { name: "Resume the rest" }).click();
  await cards.first().waitFor();
  assert.equal(await cards.first().innerText(), first);
  await waitForState(page, "done", { timeout: 240_000 });
  assert.equal(await cards.count(), 2);
  const { results } = JSON.parse((await download(page, button(page, "Download MLPerf JSON"))).bytes.toString());
  assert.deepEqual(results.map((r) => r.n_models), [1, 16]);
}, { hash: waiting(TWO) }));

const NEWER = {
  NeuronPerf_version: "1.8.55.0",
  model_name: "two sizes",
  model_configs: [
    { filename: "models/a.pt", batch_size: 1, pipeline_size: 1, performance_level: 3, compile_s: 1.5, status: "finished", model: "nn", auto_cast: "all" },
    { filename: "models/b.pt", batch_size: 8, pipeline_size: 1, performance_level: 3, compile_s: 2.5, status: "finished", model: "nn" },
    { filename: null, batch_size: 16, pipeline_size: 1, performance_level: 3, compile_s: null, status: "error" },
  ],
};
const OLDER = {
  version: "0.0.0.0+0bc220a",
  model_configs: [{ filename: "models/model_b1_p1_83bh3hhs.pt", input_idx: 0, batch_size: 1, pipeline_size: 1, cast_mode: null, compile_s: 57.03 }],
};
const give = (page, name, index) =>
  page.locator("#open-file").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(index)) });

test("an index and NeuronPerf's array of reports open in Benchmark from the start page", app.page(async (page) => {
  const array = [{ model_filename: "m.pt", n_models: 1, workers_per_model: 1, batch_size: 1, throughput_avg: 307.25, latency_ms_p50: 3.251 }];
  for (const [name, content] of [["npi2.json", OLDER], ["r2.json", array]]) {
    await page.evaluate(() => { location.hash = "#/"; });
    const buffer = Buffer.from(JSON.stringify(content));
    await page.locator("#open-file").setInputFiles({ name, mimeType: "application/json", buffer });
    await page.waitForFunction(() => location.hash.startsWith("#/benchmark"));
  }
  await page.getByText(/1 row was imported from r2\.json/).waitFor();
}));

test("a dropped model index is shown and benchmarked as on the command line; failed entries stay", app.page(async (page) => {
  await give(page, "index.json", NEWER);
  const entries = page.getByRole("table", { name: "Entries of the index" });
  await entries.waitFor();
  assert.equal(await entries.locator("tbody tr").count(), 3);
  assert.match(await entries.innerText(), /--auto-cast all[\s\S]*error/);
  await page.getByText(/Run benchmarks the 2 finished of 3 entries/).waitFor();
  await page.getByText(/^2 configurations/).waitFor();
  await assertAccessible(page);
  await button(page, "Run").click();
  await waitForState(page, "done");
  const { bytes } = await download(page, await menuEntry(page, "Download JSON"));
  const folder = mkdtempSync(join(tmpdir(), "neuronscope-"));
  try {
    const file = join(folder, "index.json");
    writeFileSync(file, JSON.stringify(NEWER));
    const printed = commandLine(["bench", file, "--n-models", "1", "--workers-per-model", "1", "--duration", "2", "--json"]);
    assert.equal(bytes.toString(), printed);
    const rows = JSON.parse(printed).reports;
    assert.deepEqual(rows.map((r) => [r.batch_size, r.model_filename, r.compiler_args.slice(0, 18)]), [[1, "models/a.pt", "--auto-cast all --"], [8, "models/b.pt", "--auto-cast matmul"]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  await button(page, "Remove the index").click();
  await entries.waitFor({ state: "detached" });
}, { hash: waiting("#/benchmark?v=1&model=mlp&n_models=1&workers_per_model=1&duration=2") }));

test("an index of the older shape runs the model of the form", app.page(async (page) => {
  await give(page, "old.json", OLDER);
  await page.getByText(/Entries without a model name run the form’s model/).waitFor();
  await button(page, "Run").click();
  await waitForState(page, "done");
  const { reports } = JSON.parse((await download(page, await menuEntry(page, "Download JSON"))).bytes.toString());
  assert.deepEqual(reports.map((r) => [r.status, r.model_filename]), [["finished", "models/model_b1_p1_83bh3hhs.pt"]]);
}, { hash: waiting("#/benchmark?v=1&model=nn&n_models=1&workers_per_model=1&duration=1") }));
