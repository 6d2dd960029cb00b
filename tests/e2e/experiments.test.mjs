// The page of experiments: the suite's own files dropped, compared, opened, linked; bad lines listed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, download, editForm, menuEntry, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const INPUTS = fileURLToPath(new URL("../it/fixtures/xla/upstream/inputs/", import.meta.url));
const V100 = readFileSync(`${INPUTS}v100.jsonl`, "utf8");
const A6000 = readFileSync(`${INPUTS}a6000.jsonl`, "utf8");
const button = (page, name) => page.getByRole("button", { name, exact: true });
const region = (page, name) => page.getByRole("region", { name });

function aggregate(...args) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const { status, stdout } = spawnSync(process.env.NEURONSCOPE_CLI, ["aggregate", "--lenient", ...args], { cwd: INPUTS, encoding: "utf8" });
  assert.equal(status, 0);
  return stdout;
}

/** Drops files anywhere on the page. */
async function drop(page, files) {
  const data = await page.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const [name, text] of list) transfer.items.add(new File([text], name));
    return transfer;
  }, Object.entries(files));
  for (const type of ["dragenter", "dragover", "drop"]) await page.dispatchEvent("body", type, { dataTransfer: data });
}

const view = (page, name) => page.getByRole("group", { name: "View" }).getByRole("button", { name, exact: true }).click();
const rows = (page, table) => page.getByRole("table", { name: table }).locator("tbody tr");

test("records dropped on any page are compared as the command line does", app.page(async (page) => {
  await drop(page, { "v100.jsonl": V100, "a6000.jsonl": A6000 });
  await waitForState(page, "done");
  await page.waitForFunction(() => location.hash.startsWith("#/experiments"));
  await page.getByRole("heading", { name: "v100, inference" }).waitFor();
  await page.getByText(/2 files, .*: 22 records/).waitFor();
  await editForm(page);
  await page.getByLabel("Accelerator").selectOption("a6000");
  await page.getByRole("heading", { name: "a6000, inference" }).waitFor();
  await page.getByLabel("Accelerator").selectOption("v100");
  // The boxes are those of the accelerator before until its answer is there.
  await page.getByRole("heading", { name: "v100, inference" }).waitFor();
  await page.getByLabel("XLA+LazyTensor").uncheck();
  await view(page, "Over time");
  await page.getByLabel("Baseline", { exact: true }).selectOption("latest");
  await page.getByRole("heading", { name: /over Latest Inductor/ }).waitFor();
  const { name, bytes } = await download(page, await menuEntry(page, "Report as CSV"));
  assert.equal(name, "speedup.csv");
  const args = ["--report", "speedup", "--baseline", "latest", "--accelerator", "v100", "--backends", "inductor", "openxla+dynamo", "--", "v100.jsonl", "a6000.jsonl"];
  assert.equal(bytes.toString(), aggregate(...args));
  assert.equal(await rows(page, "Geometric mean by run").count(), 2);
  const svg = await download(page, await menuEntry(page, "Report as SVG"));
  assert.match(svg.bytes.toString(), /^<svg/);
  await assertAccessible(page);
  // Every view is accessible, and not empty.
  for (const name of await page.getByRole("group", { name: "View" }).getByRole("button").allInnerTexts()) {
    await view(page, name);
    await page.getByRole("group", { name: "View" }).getByRole("button", { name, exact: true, pressed: true }).waitFor();
    await assertAccessible(page);
  }
}, { hash: "#/numerics" }));

test("a baseline is chosen, a point and a row open their records, and the keyboard does too", app.page(async (page) => {
  await page.locator("#open-records").setInputFiles(`${INPUTS}v100.jsonl`);
  await waitForState(page, "done");
  await view(page, "By model");
  await editForm(page);
  await page.getByLabel("Baseline backend").selectOption("openxla+dynamo");
  await page.getByRole("heading", { name: /over Oldest XLA\+Dynamo/ }).waitFor();
  await page.getByRole("button", { name: "BERT_pytorch", exact: true }).first().click();
  await page.getByRole("heading", { name: /^Records of BERT_pytorch in the run of 2023-11-12/ }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "experiments-result");
  await page.getByRole("table", { name: /^All samples of v100.jsonl:10/ }).waitFor();
  await page.getByText("python xla/benchmarks/experiment_runner.py --suite-name=torchbench").first().waitFor();
  await assertAccessible(page);
  await button(page, "\u2190 Back to By model").click();
  await page.getByRole("table", { name: /^Models of the run/ }).waitFor();
  await view(page, "Over time");
  const plot = page.getByRole("img", { name: /^Geometric mean of the speed-ups/ });
  await plot.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /^Records with .* in the run of 2023-11-12/ }).waitFor();
  // The link opens the same records in another tab, including the files.
  await page.waitForFunction(() => /open=backend.*data=1\./.test(location.hash));
  const heading = await page.locator(".document h2").innerText();
  const other = await page.context().newPage();
  await openApp(other, page.url());
  await other.getByRole("heading", { name: heading, exact: true }).waitFor();
  await editForm(other);
  assert.equal(await other.getByLabel("Baseline backend").inputValue(), "openxla+dynamo");
}, { hash: "#/experiments" }));

test("bad lines are listed with their places and the rest is used", app.page(async (page) => {
  const good = V100.split("\n")[2];
  await drop(page, { "bad.jsonl": `${good}\n{"model":\n\n${good.replace("One of Tesla V100", "Abacus")}\n[1]\n` });
  await waitForState(page, "done");
  await page.getByText(/bad\.jsonl, .*: 2 records, \d+ remarks/).waitFor();
  await page.getByText("3 lines are not used.").waitFor();
  await view(page, "Lines");
  await page.getByRole("table", { name: "Remarks about lines" }).waitFor();
  const places = await rows(page, "Remarks about lines").locator("td:nth-child(2)").allInnerTexts();
  for (const place of [/^bad\.jsonl:2: not JSON/, /^bad\.jsonl:3$/, /^bad\.jsonl:5: the line is JSON but/, /^bad\.jsonl:4: Abacus/]) {
    assert.ok(places.some((p) => place.test(p)), `${place}: ${places}`);
  }
  // A file without a record is listed and is no error; a file of another kind goes to its own page.
  await button(page, "Close the records").click();
  await page.getByText("No records yet").waitFor();
  await drop(page, { "empty.jsonl": "", "other.jsonl": "{}\n" });
  await page.getByText("No record could be used.").waitFor();
  await drop(page, { "trace.json": JSON.stringify([{ name: "f", ph: "X", ts: 1, dur: 2, pid: 1, tid: 1 }]) });
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await waitForState(page, "done");
}, { hash: "#/experiments" }));

test("the sample is shown first and is one click away, and large files are asked for again", app.page(async (page) => {
  await page.getByText(/A link opens the sample/).waitFor();
  await button(page, "Close the records").click();
  await page.getByText("neuronscope experiment --suite-name=torchbench").waitFor();
  await assertAccessible(page);
  await button(page, "Load the sample").click();
  await waitForState(page, "done");
  await page.getByText(/A link opens the sample/).waitFor();
  await page.getByRole("table", { name: "Not in the newest geometric mean" }).or(page.getByText("Changes from the run")).first().waitFor();
  await editForm(page);
  await page.getByLabel("Models", { exact: true }).fill("^(");
  await page.getByText("A choice cannot be used.").waitFor();
  await page.getByLabel("Models", { exact: true }).fill("^nn$");
  await page.getByText("A choice cannot be used.").waitFor({ state: "detached" });
  await page.waitForFunction(() => /filter=%5Enn%24.*data=sample/.test(location.hash));
  const many = Array.from({ length: 400 }, (_, i) => V100.replaceAll("BERT_pytorch", `model_${i}`)).join("");
  await button(page, "Close the records").click();
  await drop(page, { "many.jsonl": many });
  await waitForState(page, "done");
  await page.getByText(/A link holds this view, not the records/).waitFor();
  await page.waitForFunction(() => location.hash.includes("files=many.jsonl"));
  // This browser keeps the file; another one asks for it.
  const other = await page.context().newPage();
  await openApp(other, page.url());
  await other.getByText(/many\.jsonl, .*records/).first().waitFor();
  const elsewhere = await page.context().browser().newContext();
  const asked = await elsewhere.newPage();
  await openApp(asked, page.url());
  await asked.getByText("This link shows many.jsonl").waitFor();
  await elsewhere.close();
}, { hash: "#/experiments" }));
