// Experiments that run on the page: planned, run over workers, paused, cancelled, resumed after a reload, in the same views and with the same
// records as the command line.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appFixture, assertAccessible, download, eventually, openApp, waitForState, waiting } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });
const said = (page) => page.getByRole("log", { name: "Progress of the experiments" });
const rows = (page, table) => page.getByRole("table", { name: table }).locator("tbody tr");
const SMALL = "#/experiments?v=1&run_suite=zoo&run_models=nn,mlp&run_accelerator=trn1,inf2&run_test=eval&run_repeat=4&run_timestamp=1700000000.5";
// 16 models, 3 accelerators, 2 backends.
const LONG = "#/experiments?v=1&run_suite=torchbench&run_models=&run_accelerator=trn1,inf2,trn2&run_test=eval&run_repeat=4";

const jsonl = async (page) => (await download(page, button(page, "Download JSONL"))).bytes.toString();

/** The records that the printed command writes. */
function recordsOf(command) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const folder = mkdtempSync(join(tmpdir(), "experiments-"));
  const args = command.split(" ").slice(1).map((word) => word.replace(/^'|'$/g, ""));
  const { status, stderr } = spawnSync(process.env.NEURONSCOPE_CLI, [...args, `--output-dirname=${folder}`], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return readFileSync(join(folder, "results.jsonl"), "utf8");
}

test("a link runs its plan, and the records are those of the printed command", app.page(async (page) => {
  await waitForState(page, "done");
  await page.getByText(/results of this page\.jsonl, .*: 8 records/).waitFor();
  assert.equal(await said(page).innerText(), "8 of 8 done");
  await page.getByRole("heading", { name: /inference/ }).first().waitFor();
  await page.getByText(/A link runs the same experiments/).waitFor();
  await assertAccessible(page);
  await button(page, "Run experiments").click();
  const command = await page.getByLabel("Command of this run").innerText();
  assert.match(command, /^neuronscope experiment --suite-name zoo --models nn,mlp .*--timestamp 1700000000\.5$/);
  assert.equal(await jsonl(page), recordsOf(command));
  assert.equal(await rows(page, "Experiments").filter({ hasText: "done" }).count(), 8);
  await assertAccessible(page);
  // The views are those of files.
  await page.getByRole("group", { name: "View" }).getByRole("button", { name: "By model", exact: true }).click();
  await page.getByRole("button", { name: "mlp", exact: true }).first().click();
  await page.getByRole("heading", { name: /^Records of mlp/ }).waitFor();
  // A reload shows the kept records without a run, and another browser runs the plan.
  const records = await jsonl(page);
  await page.reload();
  await waitForState(page, "done");
  await eventually(async () => assert.equal(await jsonl(page), records));
  const elsewhere = await page.context().browser().newContext();
  const other = await elsewhere.newPage();
  await openApp(other, page.url());
  await waitForState(other, "done");
  await eventually(async () => assert.equal(await jsonl(other), records));
  await elsewhere.close();
}, { hash: SMALL }));

test("the page opens on the sample, and a run from the form takes its place", app.page(async (page) => {
  await page.getByText(/A link opens the sample/).waitFor();
  await button(page, "Run experiments").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "experiments-run_suite");
  await page.getByLabel("Suite", { exact: true }).selectOption("torchbench");
  await page.getByText("Choose models: all 16").click();
  await page.getByLabel("Search the models of the suite").fill("alex");
  await page.getByRole("group", { name: "Models of the suite" }).getByLabel("alexnet").check();
  await page.getByText(/^2 experiments$/).waitFor();
  assert.equal(await rows(page, "Experiments").filter({ hasText: "planned" }).count(), 2);
  await page.getByLabel("Repeats", { exact: true }).fill("0");
  await page.getByText("Repeats: '0' is not a whole number from 1 to 100000").waitFor();
  await page.getByLabel("Repeats", { exact: true }).fill("4");
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByText(/results of this page\.jsonl, .*: 2 records/).waitFor();
  assert.equal(await page.getByText("sample.jsonl").count(), 0);
  await page.waitForFunction(() => /run_models=alexnet/.test(location.hash) && !/data=/.test(location.hash));
  await button(page, "Close the records").click();
  await page.getByText("No records yet").waitFor();
  assert.equal(await said(page).innerText(), "");
}, { hash: "#/experiments" }));

test("a long plan is paused, resumed, taken up after a reload and cancelled", app.page(async (page) => {
  const count = async () => Number((await said(page).innerText()).split(" ")[0]);
  await eventually(async () => assert.ok((await count()) >= 3));
  await button(page, "Pause").click();
  await page.getByText(/^Paused: \d+ of 96 experiments/).waitFor();
  const paused = await count();
  assert.match(await said(page).innerText(), /^\d+ of 96 done, paused$/);
  await page.waitForTimeout(500);
  assert.equal(await count(), paused, "nothing begins in a pause");
  await button(page, "Resume").click();
  await eventually(async () => assert.ok((await count()) > paused));
  // The records so far are in the views already.
  await page.getByText(/results of this page\.jsonl, .*: \d+ records/).waitFor();
  const before = await count();
  await page.reload();
  await waitForState(page, "running");
  await eventually(async () => assert.ok((await count()) >= before, "the rows of the visit before are kept"));
  await button(page, "Cancel").click();
  await button(page, "Retry failed").waitFor();
  const lines = (await jsonl(page)).trim().split("\n");
  assert.equal(lines.length, await count());
  assert.ok(lines.length < 96);
}, { hash: LONG }));

test("an accelerator that is not here is skipped with the reason, a part that cannot be used is named", app.page(async (page) => {
  await page.getByText("A part of the link could not be used", { exact: false }).waitFor();
  await page.getByText(/will be skipped: a GPU cannot be run/).first().waitFor();
  await button(page, "Run").click();
  await waitForState(page, "done");
  await rows(page, "Experiments").filter({ hasText: "skipped: a GPU cannot be run" }).first().waitFor();
  assert.match(await jsonl(page), /"error": "SKIP"/);
}, { hash: waiting("#/experiments?run_suite=dummy&run_models=&run_accelerator=cuda&run_test=eval&run_repeat=4") }));

test("a measurement waits for Run and says that it is one", app.page(async (page) => {
  await page.getByText(/4 experiments, 4 measured in this browser/).waitFor();
  await button(page, "Run").click();
  await waitForState(page, "done");
  await page.getByText(/results of this page\.jsonl, .*: 4 records/).waitFor();
  const records = (await jsonl(page)).trim().split("\n").map((line) => JSON.parse(line));
  assert.match(records[0].experiment.accelerator_model, /^browser, \d+ threads$/);
  assert.ok(records.every((record) => record.metrics.total_time.every((seconds) => seconds > 0)));
  // Measured records cannot be made again, so the link holds them.
  await page.waitForFunction(() => /run_accelerator=cpu.*data=1\./.test(location.hash));
}, { hash: "#/experiments?v=1&run_suite=dummy&run_models=&run_accelerator=cpu&run_test=eval&run_repeat=4&run_iterations=20" }));
