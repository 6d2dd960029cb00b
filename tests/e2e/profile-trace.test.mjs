// The tool `trace`: a whole benchmark run as a timeline, which is a separate run beside the execution it belongs to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, chooseLevel, chooseTool, menuEntry, toolShown, waitForState } from "./support/app.mjs";

const app = appFixture();
const offeredTools = (page) => page.locator("#rail-tools [data-tool]:not([aria-disabled])").evaluateAll((all) => all.map((b) => b.dataset.tool));
const runs = (page) => page.getByLabel("Run", { exact: true }).locator("option").allInnerTexts();
const fact = (page, name) => page.locator(".facts div", { has: page.locator("dt", { hasText: name }) }).locator("dd").first().innerText();
const shows = (page, name) =>
  page.waitForFunction((wanted) => document.querySelector(".run-title")?.textContent.includes(wanted), name);
// year_month_day_hour_minute_second_millisecond
const NAME = /\d{4}_\d{2}_\d{2}_\d{2}_\d{2}_\d{2}_\d{3}/;

test("an execution has the operator tools; its benchmark is a separate run, made on request", app.page(async (page) => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
  const offered = await offeredTools(page);
  for (const name of ["operator-framework", "operator-hlo", "operator-timeline"]) {
    assert.ok(offered.includes(name), `${name} of ${offered}`);
  }
  assert.ok(!offered.includes("trace"), "no tool leads to another run");
  // No tool changes the shown run.
  for (const name of offered) {
    await chooseTool(page, name);
    assert.equal((await runs(page)).length, 1, name);
  }
  assert.match((await runs(page))[0], new RegExp(`^nn mark_step \\(${NAME.source}_\\d+\\)$`));

  await (await menuEntry(page, "Trace a benchmark")).click();
  await shows(page, "2 models x 2 workers");
  await waitForState(page, "done");
  assert.equal(await toolShown(page), "trace");
  assert.equal((await runs(page)).length, 2);
  assert.match((await runs(page))[1], /^nn: batch 1/);
  assert.match(await fact(page, "Throughput"), /^[\d,]+(\.\d+)? inferences\/s$/);
  assert.match(await fact(page, "Shown"), /^the first .* of the .* measured$/);

  const canvas = page.getByRole("application", { name: "Timeline" });
  await canvas.waitFor();
  await page.getByText("Slices in view as a table").click();
  const lines = page.getByRole("table", { name: "Slices in view" });
  await lines.locator("tbody tr").first().waitFor();
  assert.ok((await lines.innerText()).includes("compile"));
  await assertAccessible(page);

  const ofBenchmark = await offeredTools(page);
  assert.ok(ofBenchmark.includes("trace") && !ofBenchmark.includes("operator-framework"), ofBenchmark.join());
  // Back to the execution, which is still open.
  await page.getByLabel("Run", { exact: true }).selectOption({ index: 0 });
  await shows(page, "nn mark_step");
  await chooseTool(page, "operator-framework");
  await page.getByRole("table", { name: "Framework operators" }).waitFor();
  assert.equal((await runs(page)).length, 2);
}, { hash: "#/profile?v=1" }));

test("a link with the trace runs the benchmark", app.page(async (page) => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await shows(page, "2 models x 2 workers");
  assert.equal(await toolShown(page), "trace");
  assert.match(page.url(), /tool=trace/);
  // What the workers wait for can be queried like anything else.
  await chooseTool(page, "statistics");
  await page.getByRole("table").first().waitFor();
  const groups = page.getByRole("table", { name: "Groups" }).locator("tbody tr");
  const counts = async () => Object.fromEntries(await groups.evaluateAll((all) => all.map((row) => [row.querySelector("th").innerText, Number(row.cells[1].dataset.value)])));
  await groups.filter({ hasText: "ExecuteComputation" }).first().waitFor();
  // Device execution is the first level; compiling, loading and moving data are other levels.
  assert.deepEqual(Object.keys(await counts()), ["ExecuteComputation"]);
  await chooseLevel(page, "all");
  await groups.filter({ hasText: "warmup" }).first().waitFor();
  // Two models are compiled once, and each is loaded and warmed up.
  const byName = await counts();
  assert.deepEqual([byName.compile, byName.load, byName.warmup], [1, 2, 2]);
  await page.getByLabel("Group by").selectOption("thread");
  await groups.filter({ hasText: "IO Data Transfer" }).first().waitFor();
  const byThread = await counts();
  for (const core of [0, 1]) {
    const [io, device] = ["IO Data Transfer", "NeuronDevice Execution"].map((row) => byThread[`NeuronDevice 0 NeuronCore ${core} / ${row}`]);
    // At the end of the trace, each worker has at most one input that was moved but not yet computed.
    assert.ok(device > 1000 && io - device >= 0 && io - device <= 2, `${io} transfers, ${device} executions`);
    for (const worker of [0, 1]) {
      assert.ok(Object.keys(byThread).some((name) => name.startsWith(`/host:CPU / model ${core} worker ${worker}`)), Object.keys(byThread).join());
    }
  }
}, { hash: "#/profile?tool=trace" }));
