// The page of values: what the command line computes, side by side, and where a NaN began.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, download, editForm, menuEntry, openApp, refuseToKeep, reloaded, waitForState, waiting } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });

function commandLine(args) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const options = { maxBuffer: 1 << 28, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const { status, stdout } = spawnSync(process.env.NEURONSCOPE_CLI, ["numerics", ...args, "--json"], options);
  // The exit status is 1 exactly if an output fails.
  assert.equal(status, JSON.parse(stdout).outputs.every((output) => output.passed) ? 0 : 1);
  return stdout;
}

const downloaded = async (page) => (await download(page, await menuEntry(page, "Download JSON"))).bytes.toString();
const cells = (page, side) => page.getByRole("region", { name: `${side}, output 0` }).locator("td");

test("the example that goes NaN without a bias is one click away, and names the operation", app.page(async (page) => {
  await button(page, "Goes NaN without a bias").click();
  await waitForState(page, "done");
  const printed = commandLine(["--model", "matmult:n=32,loop_count=200,add_bias=false,normalize=true"]);
  assert.equal(await downloaded(page), printed);
  const { first_nan: nan, outputs } = JSON.parse(printed);
  const origins = page.locator(".document .tiles");
  await origins.getByText(nan.path, { exact: true }).first().waitFor();
  assert.match(await origins.innerText(), new RegExp(`First NaN[\\s\\S]*${nan.hlo.replaceAll(".", "\\.")} \\(${nan.opcode}\\)`));
  assert.match(await page.locator(".document .finding").first().innerText(), /^FAIL .*1 NaN/);
  assert.equal(outputs[0].nan, 1);
  assert.deepEqual(await cells(page, "Device").allInnerTexts(), ["NaN"]);
  assert.match(page.url(), /#\/numerics\?v=1&model=matmult:n=32,loop_count=200,add_bias=false,normalize=true/);
  await assertAccessible(page);
  await button(page, "The same with a bias").click();
  await page.getByText(/^PASS /).waitFor();
  await page.getByText("No operation on the device made a NaN").waitFor();
}, { hash: "#/numerics" }));

test("a model file has its values, also from a link that only names it", app.page(async (page, url) => {
  const path = fileURLToPath(new URL("../it/fixtures/models/onnx/dynamic-batch-mlp--torch2.9.1.onnx", import.meta.url));
  const drop = (tab) => tab.locator("#open-file").first().setInputFiles({ name: "mlp.onnx", mimeType: "", buffer: readFileSync(path) });
  const printed = { ...JSON.parse(commandLine(["--model", path, "--batch-size", "2", "--instance", "inf2.xlarge"])), spec: null };
  await page.evaluate(() => { location.hash = "#/numerics?v=1&model=file:mlp.onnx@0123456789abcdef&batch_size=2&instance=inf2.xlarge"; });
  await page.getByRole("heading", { name: "Drop mlp.onnx here" }).waitFor();
  await assertAccessible(page);
  await drop(page);
  await page.getByText(/^PASS /).waitFor();
  await waitForState(page, "done");
  assert.deepEqual({ ...JSON.parse(await downloaded(page)), spec: null }, printed);
  assert.match(page.url(), /#\/numerics\?v=1&model=file:mlp\.onnx.*batch_size=2/);
  // What is no model leaves nothing of the one before.
  await page.locator("#open-file").first().setInputFiles({ name: "bad.onnx", mimeType: "", buffer: Buffer.from("no model at all") });
  await waitForState(page, "failed");
  assert.equal(await page.getByText(/^PASS /).count(), 0);
  await openApp(page, url);
}, { hash: "#/numerics" }));

test("values, errors and verdict are the command line's", app.page(async (page, url) => {
  await editForm(page);
  await page.locator("form summary:not(.button)").last().click();
  await page.getByLabel("Auto-cast").selectOption("all");
  await page.getByLabel("Cast type").selectOption("fp8_e4m3");
  await page.getByLabel("Rounding").selectOption("stochastic");
  await page.getByLabel("Seed", { exact: true }).fill("3");
  await page.getByLabel("Batch size").fill("4");
  await button(page, "Run").click();
  await waitForState(page, "done");
  const printed = commandLine(["--model", "nn", "--auto-cast", "all", "--auto-cast-type", "fp8_e4m3", "--rounding", "stochastic", "--seed", "3", "--batch-size", "4"]);
  assert.equal(await downloaded(page), printed);
  const [output] = JSON.parse(printed).outputs;
  const shown = (values) => values.map((v) => (v === 0 || (Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5) ? v.toFixed(4) : undefined));
  const texts = await cells(page, "Device").allInnerTexts();
  shown(output.sample.device).forEach((text, i) => text === undefined || assert.equal(texts[i], text));
  assert.equal((await cells(page, "CPU").allInnerTexts()).length, output.sample.reference.length);
  const row = page.getByRole("table", { name: "Outputs compared" }).locator("tbody tr").first();
  assert.match(await row.innerText(), new RegExp(output.passed ? "PASS" : "FAIL"));
  assert.match(await row.innerText(), new RegExp(output.mean_relative_error.toExponential(3).replace("+", "").slice(0, 5)));
  // The link shows the same form.
  const other = await page.context().newPage();
  await openApp(other, page.url());
  // It runs by itself, with the same result.
  await waitForState(other, "done");
  assert.equal(await downloaded(other), printed);
  await editForm(other);
  assert.equal(await other.getByLabel("Rounding").inputValue(), "stochastic");
  assert.equal(await other.getByLabel("Batch size").inputValue(), "4");
  assert.ok(page.url().startsWith(url));
}, { hash: waiting("#/numerics?v=1&model=nn") }));

test("a data set that is dropped is answered by processor and core, judged by metrics, and travels in the link", app.page(async (page) => {
  const line = (n) => [...Array.from({ length: 16 }, (_, i) => ((i * 7 + n * 3) % 11) / 4), n].join();
  const records = [0, 1, 2].map((n) => `${line(n)}\n`).join("");
  const buffer = Buffer.from(records);
  await page.locator("#open-file").first().setInputFiles({ name: "records.csv", mimeType: "text/csv", buffer });
  // The label is one value too many, until a metric takes it.
  await waitForState(page, "failed");
  await editForm(page);
  await page.getByText("Own records", { exact: true }).click();
  await page.getByLabel("Metrics", { exact: true }).fill("Accuracy");
  await button(page, "Run").click();
  await waitForState(page, "done");
  const folder = mkdtempSync(join(tmpdir(), "records-"));
  writeFileSync(join(folder, "records.csv"), records);
  const args = ["--model", "nn", "--dataset", join(folder, "records.csv"), "--eval-metrics", "Accuracy"];
  const printed = commandLine(args);
  assert.equal(await downloaded(page), printed);
  const [metric] = JSON.parse(printed).metrics;
  const row = page.getByRole("table", { name: "How good the answers are" }).locator("tbody tr").first();
  assert.match(await row.innerText(), new RegExp(`^Accuracy\\s+${metric.reference === 0 ? "0" : metric.reference.toFixed(2)}`));
  assert.equal(await cells(page, "Device").count(), 3 * JSON.parse(printed).outputs[0].sample.columns);
  assert.match(page.url(), /dataset=\d+(~|%7E)/);
  await assertAccessible(page);
  // The same table as answers that a model gave elsewhere: sixteen scores and the class.
  await editForm(page);
  await page.getByLabel("The records are answers").check();
  await button(page, "Run").click();
  await page.getByRole("heading", { name: /^Answers in dataset: 3 records of 16 outputs/ }).waitFor();
  const judged = spawnSync(process.env.NEURONSCOPE_CLI, ["evaluate", join(folder, "records.csv")], { encoding: "utf8" }).stdout;
  assert.equal((await row.innerText()).split(/\s+/).join(" "), judged.trim().split("\n").at(-1).split(/\s+/).join(" "));
  assert.match(page.url(), /answers=true/);
}, { hash: waiting("#/numerics?v=1&model=nn") }));

test("wrong fields are explained, a model that is too large says so, and a run is cancelled", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Tolerance").fill("-1");
  assert.match(await page.locator("#numerics-tolerance-note").innerText(), /not a number above 0/);
  await button(page, "Run").click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "idle");
  await editForm(page);
  await page.getByLabel("Tolerance").fill("0.02");
  await page.getByLabel("Model", { exact: true }).fill("bert-large-uncased");
  await button(page, "Run").click();
  await waitForState(page, "failed");
  await page.getByText(/values are computed for models of at most/).waitFor();
  await page.goto(page.url().replace(/#.*/, "#/numerics?v=1&model=matmult:n=512,loop_count=24"));
  await page.waitForFunction(() => document.querySelector("#numerics-model-n")?.value === "512");
  // The link runs by itself, and can be cancelled.
  await waitForState(page, "running");
  await button(page, "Cancel").click();
  await waitForState(page, "idle");
}, { hash: "#/numerics?v=1" }));

test("a finished comparison is kept: a reload shows it without a run, the start page lists it, and it runs again", app.page(async (page, url) => {
  await waitForState(page, "done");
  const before = [await downloaded(page), await page.locator(".document").innerText()];
  const shown = await reloaded(page, async () => [await downloaded(page), await page.locator(".document").innerText()]);
  assert.deepEqual(shown, before);
  await editForm(page);
  assert.equal(await page.getByLabel("Seed", { exact: true }).inputValue(), "5");
  await assertAccessible(page);
  // An address without a request shows it too.
  await openApp(page, `${url}?bare#/numerics`);
  await page.getByText(/^Kept in this browser since/).waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Seed", { exact: true }).inputValue(), "5");
  await button(page, "Run again").click();
  await page.getByText(/^Kept in this browser since/).waitFor({ state: "detached" });
  await waitForState(page, "done");
  assert.equal(await downloaded(page), before[0]);
  await openApp(page, `${url}?list#/`);
  const items = page.getByRole("region", { name: "Kept here" }).locator("li");
  await items.first().waitFor();
  assert.equal(await items.count(), 1);
  assert.match(await items.innerText(), /^nn on trn1\.2xlarge\s+Numerics, 20\d\d-/);
  await button(page, "Remove nn on trn1.2xlarge").click();
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => /sweep|kept/.test(key))), []);
}, { hash: "#/numerics?v=1&model=nn&seed=5" }));

test("a browser that keeps nothing says so, and the comparison is shown and runs again after a reload", app.page(async (page) => {
  await waitForState(page, "done");
  await page.getByText(/^The browser cannot keep this result for a later visit/).waitFor();
  await page.getByText(/^PASS /).waitFor();
  await page.reload();
  await waitForState(page, "done");
  await page.getByText(/^The browser cannot keep this result for a later visit/).waitFor();
  assert.equal(await page.getByText(/^Kept in this browser since/).count(), 0);
}, { hash: "#/numerics?v=1&model=nn", init: refuseToKeep }));
