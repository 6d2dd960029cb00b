// What the browser keeps: files, runs and results on the start page, over reloads and between tabs; results as one file.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { appFixture, assertAccessible, download, editForm, menuEntry, openApp, toolShown, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const shelf = (page) => page.getByRole("region", { name: "Kept here" });
const names = (page) => shelf(page).locator("li a").allInnerTexts();
const button = (page, name) => page.getByRole("button", { name, exact: true });

async function openTrace(page, file) {
  await page.locator("#open-file").setInputFiles(`${TRACES}/${file}`);
  await page.waitForFunction((name) => document.querySelector(".run-title")?.textContent.includes(name), file);
  await waitForState(page, "done");
}

// The bytes are written after the result is shown; the start page lists only complete files.
async function listed(page, url, count) {
  await page.goto("about:blank");
  await openApp(page, `${url}#/`);
  await page.waitForFunction((wanted) => document.querySelectorAll(".shelf li").length === wanted, count);
}

test("an opened file is kept: a reload opens it again, the start page lists it, named, pinned, removed", app.page(async (page, url) => {
  await openTrace(page, "catapult_simple_trace.json");
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith("neuronscope.kept.") && localStorage[key].includes("whole=1")));
  await page.waitForFunction(() => location.hash.includes("file=catapult_simple_trace.json"));
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".run-title")?.textContent.includes("catapult_simple_trace.json"));
  await waitForState(page, "done");
  await listed(page, url, 1);
  assert.match(await shelf(page).innerText(), /File, .*B, 20\d\d-/);
  await shelf(page).getByText(/The browser gives this page/).waitFor();
  await assertAccessible(page);
  await button(page, "Rename catapult_simple_trace.json").click();
  await editForm(page);
  await page.getByLabel("Name of catapult_simple_trace.json").fill("The slow one");
  await page.keyboard.press("Enter");
  await button(page, "Pin The slow one").click();
  await page.locator('.shelf button[aria-pressed="true"]').waitFor();
  assert.equal(await button(page, "Remove The slow one").count(), 0);
  // Its link opens it, under the name of the file.
  await shelf(page).getByRole("link", { name: "The slow one" }).click();
  await page.waitForFunction(() => document.querySelector(".run-title")?.textContent.includes("catapult_simple_trace.json"));
  await listed(page, url, 1);
  assert.deepEqual(await names(page), ["The slow one"]);
  await button(page, "Pin The slow one").click();
  await button(page, "Remove The slow one").click();
  await shelf(page).waitFor({ state: "detached" });
  await openApp(page, `${url}?again#/profile?v=1&file=catapult_simple_trace.json&tool=overview`);
  await page.getByText(/This link shows the file catapult_simple_trace\.json/).waitFor();
}, { hash: "#/profile?v=1" }));

test("runs and results are kept, found with Ctrl+K, and seen by another tab", app.page(async (page, url) => {
  const other = await page.context().newPage();
  await openApp(other, `${url}#/`);
  await waitForState(page, "done");
  await other.waitForFunction(() => document.querySelectorAll(".shelf li").length === 1);
  await page.evaluate(() => { location.hash = "#/benchmark?v=1&model=nn&duration=2"; });
  await page.getByRole("table", { name: "Benchmark results" }).waitFor();
  await waitForState(page, "done");
  await other.waitForFunction(() => document.querySelectorAll(".shelf li").length === 2);
  assert.deepEqual((await names(other)).sort(), ["nn mark_step", "nn on trn1.2xlarge, 4 configurations"]);
  // A change in one tab does not overwrite the other's.
  await button(other, "Pin nn mark_step").click();
  await other.keyboard.press("Control+k");
  await other.getByRole("combobox", { name: /^Find a tool/ }).fill("nn on trn1");
  await other.keyboard.press("Enter");
  await other.getByText(/Saved; shown below/).waitFor();
  await waitForState(other, "done");
  assert.equal(await other.getByRole("table", { name: "Benchmark results" }).locator("tbody tr").count(), 4);
  await other.close();
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

test("two kept profiles are compared: chosen on the start page, and from the menu of an open run", app.page(async (page, url) => {
  await waitForState(page, "done");
  await openTrace(page, "catapult_simple_trace.json");
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => localStorage[key].includes("whole=1") && localStorage[key].includes("catapult")));
  await listed(page, url, 2);
  await button(page, "Compare: catapult_simple_trace.json").click();
  await shelf(page).getByText("catapult_simple_trace.json is the base.").waitFor();
  await assertAccessible(page);
  await button(page, "Compare with it: nn mark_step").click();
  // The run is simulated and the file comes from the store: both are there, the file as base.
  await page.getByLabel("Base", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Base", { exact: true }).inputValue(), "catapult_simple_trace.json");
  assert.equal(await toolShown(page), "compare");
  await waitForState(page, "done");
  // A link to one of them, then the other one from the menu.
  await openApp(page, `${url}?menu#/profile?v=1&file=catapult_simple_trace.json&tool=overview`);
  await waitForState(page, "done");
  await (await menuEntry(page, "nn mark_step")).click();
  await page.getByLabel("Base", { exact: true }).waitFor();
  assert.match(await page.getByLabel("Base", { exact: true }).inputValue(), /^nn/);
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

test("results of two benchmarks are compared, configuration by configuration", app.page(async (page, url) => {
  for (const instance of ["trn1.2xlarge", "inf2.xlarge"]) {
    await openApp(page, `${url}?${instance}#/benchmark?v=1&model=nn&instance=${instance}&duration=1`);
    await waitForState(page, "done");
  }
  await listed(page, url, 2);
  await button(page, /^Compare: nn on trn1\.2xlarge/).click();
  await shelf(page).getByText(/^nn on trn1\.2xlarge.* is the base\./).waitFor();
  await button(page, /^Compare with it: nn on inf2\.xlarge/).click();
  await page.getByText(/2 files/).first().waitFor();
  await page.getByText("Geometric mean of the speed-ups, file by file").waitFor();
  const ratios = await page.getByRole("table", { name: "Configurations" }).locator("tbody tr").evaluateAll((rows) => rows.map((row) => Number(row.cells[7].dataset.value)));
  assert.deepEqual(ratios.slice(0, 4), [1, 1, 1, 1]);
  assert.ok(ratios.slice(4).every((ratio) => ratio > 0 && Math.abs(ratio - 1) < 0.5), `${ratios}`);
  // The suite's choices do not apply to reports, so there are none; the results that a link does not hold are downloaded here.
  assert.equal(await page.getByLabel("Accelerator", { exact: true }).count(), 0);
  assert.equal(await page.getByLabel("Models", { exact: true }).count(), 0);
  await page.getByText(/^2 files, .*: 8 rows of reports\. A link opens this view in this browser/).waitFor();
  const files = [];
  page.on("download", (file) => files.push(file));
  await button(page, "Download the results").click();
  while (files.length < 2) await page.waitForEvent("download");
  assert.deepEqual(files.map((file) => file.suggestedFilename().replace(/ .*/, "")), ["nn", "nn"]);
  // A user who gets the link and the files sees the same view, and their browser keeps the files.
  const elsewhere = await page.context().browser().newContext();
  const theirs = await elsewhere.newPage();
  await openApp(theirs, page.url());
  await theirs.locator("#open-records").setInputFiles(await Promise.all(files.map(async (file) => ({ name: file.suggestedFilename(), mimeType: "application/json", buffer: readFileSync(await file.path()) }))));
  await theirs.getByText("Geometric mean of the speed-ups, file by file").waitFor();
  await theirs.waitForFunction(() => Object.keys(localStorage).filter((key) => localStorage[key].includes("kind=records") && localStorage[key].includes("whole=1")).length === 2);
  await elsewhere.close();
  // They are on the shelf as they were, and the address opens the comparison again.
  await page.reload();
  await page.getByText(/2 files/).first().waitFor();
  await listed(page, url, 2);
}));

test("a store that accepts nothing is reported, and the open profile stays", app.page(async (page) => {
  await openTrace(page, "catapult_simple_trace.json");
  await page.getByText(/catapult_simple_trace\.json is open, but is not kept for a later visit/).waitFor();
  assert.equal(await toolShown(page), "overview");
}, {
  hash: "#/profile?v=1",
  init: () => { if (navigator.storage) navigator.storage.estimate = () => Promise.resolve({ usage: 100, quota: 200 }); },
}));

// Opens a file as a user would: no server, no network.
async function openFile(page, name, bytes, body) {
  const folder = mkdtempSync(join(tmpdir(), "neuronscope-page-"));
  const context = await page.context().browser().newContext({ offline: true });
  try {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    const asked = [];
    const other = await context.newPage();
    other.on("request", (request) => asked.push(request.url()));
    const wrong = [];
    other.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    await other.goto(pathToFileURL(file).href);
    await body(other);
    assert.deepEqual(asked, [pathToFileURL(file).href], "it requests nothing else");
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
    rmSync(folder, { recursive: true });
  }
}

test("results as one page: the CSV's values, sorted without a network, the same bytes on the command line", app.page(async (page, url) => {
  await waitForState(page, "done");
  const csv = (await download(page, await menuEntry(page, "Download CSV"))).bytes.toString().trim().split("\n").map((line) => line.split(","));
  const { name, bytes } = await download(page, await menuEntry(page, "Download as page"));
  assert.match(name, /^nn\.results-\d{8}-\d{6}\.html$/);
  await openFile(page, name, bytes, async (file) => {
    await assertAccessible(file);
    const rows = () => file.locator("tbody").last().locator("tr");
    const head = csv[0];
    const of = (id) => file.locator(`th[data-id="${id}"]`).evaluate((cell) => cell.cellIndex);
    for (const id of ["n_models", "workers_per_model", "batch_size", "throughput_avg", "latency_ms_p50", "latency_ms_p99"]) {
      const [at, column] = [head.indexOf(id), await of(id)];
      const shown = await rows().evaluateAll((all, c) => all.map((row) => row.cells[c].dataset.value), column);
      // The page has exact values, the file NeuronPerf's three decimals.
      const decimals = shown.map((value) => Number(Number(value).toFixed(3)));
      assert.deepEqual(decimals, csv.slice(1).map((line) => Number(line[at])), id);
    }
    const column = await of("throughput_avg");
    await file.locator('th[data-id="throughput_avg"] button').click();
    const sorted = (await rows().evaluateAll((all, c) => all.map((row) => row.cells[c].dataset.value), column)).map(Number);
    assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
    assert.equal(JSON.parse(await file.locator("#data").textContent()).reports.length, 4);
    const live = await file.getByRole("link", { name: "Open it live in neuronscope" }).getAttribute("href");
    assert.ok(live.startsWith(`${url}#/benchmark?v=1&model=nn`), live);
  });
  if (process.env.NEURONSCOPE_CLI) {
    const folder = mkdtempSync(join(tmpdir(), "neuronscope-html-"));
    const file = join(folder, "page.html");
    execFileSync(process.env.NEURONSCOPE_CLI, ["bench", "--model", "nn", "--duration", "2", "--html", file, "--live", url], { stdio: "ignore" });
    assert.equal(readFileSync(file, "utf8"), bytes.toString());
    rmSync(folder, { recursive: true });
  }
}, { hash: "#/benchmark?v=1&model=nn&duration=2" }));

test("the overview of a profile as one page", app.page(async (page, url) => {
  await waitForState(page, "done");
  const { name, bytes } = await download(page, await menuEntry(page, "Download as page"));
  assert.match(name, /\.html$/);
  await openFile(page, name, bytes, async (file) => {
    await assertAccessible(file);
    await file.getByText("Device window", { exact: true }).first().waitFor();
    await file.getByRole("table", { name: "Framework operators" }).waitFor();
    const live = await file.getByRole("link", { name: "Open it live in neuronscope" }).getAttribute("href");
    assert.ok(live.startsWith(`${url}#/profile?v=1&model=nn`), live);
  });
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

test("the result of a study as one page, with its plots and its source", app.page(async (page, url) => {
  const studies = [
    ["#/matmult?v=1&matrix_dim=256&loop_count=10", [".axis-title", ".roof", ".mark"]],
    ["#/matmult?v=1&matrix_dim=128,256&loop_count=1,10", [".heat-map td"]],
    ["#/customop?v=1&kernel=relu-tcm&layers=16,64,10&batch=4", ["svg rect", "table"]],
    ["#/llm?v=1&model=llama-3-8b&batch=8", [".line", ".band", ".legend .swatch"]],
  ];
  for (const [hash, drawn] of studies) {
    await openApp(page, `${url}${hash}`);
    await waitForState(page, "done");
    const command = await page.getByLabel("Command").first().innerText();
    const { name, bytes } = await download(page, await menuEntry(page, "Download as page"));
    assert.equal(name, `${hash.slice(2).split("?")[0]}.html`);
    await openFile(page, name, bytes, async (file) => {
      await assertAccessible(file);
      for (const part of drawn) assert.ok(await file.locator(part).count() > 0, `${hash}: ${part}`);
      const live = await file.getByRole("link", { name: "Open it live in neuronscope" }).getAttribute("href");
      assert.ok(live.startsWith(`${url}${hash.split("?")[0]}?v=1`), live);
    });
    // `generate` prints one place; the page has all of them too.
    if (process.env.NEURONSCOPE_CLI && !hash.startsWith("#/llm")) assert.equal(pageOfCommand(command, url), bytes.toString(), command);
  }
}, { open: false }));

/** The page that a command writes. */
function pageOfCommand(command, url) {
  const folder = mkdtempSync(join(tmpdir(), "neuronscope-html-"));
  try {
    const file = join(folder, "page.html");
    execFileSync("sh", ["-c", `${command.replace(/^neuronscope/, '"$NEURONSCOPE_CLI"')} --html "${file}" --live "${url}"`], { stdio: "ignore" });
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const MODELS = fileURLToPath(new URL("../it/fixtures/models", import.meta.url));
const ONNX = { name: "nn.onnx", mimeType: "application/octet-stream", buffer: readFileSync(`${MODELS}/onnx/nn-442--torch2.9.1.onnx`) };

test("a model file is kept: the start page and links that name its content open it without asking", app.page(async (page, url) => {
  await page.locator("#open-file").setInputFiles(ONNX);
  await page.getByText(/nn\.onnx is open/).waitFor();
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => localStorage[key].includes("kind=model") && localStorage[key].includes("whole=1")));
  await waitForState(page, "done");
  await listed(page, url, 2);
  assert.match(await shelf(page).innerText(), /nn\.onnx\s+Model file, .*B, 20\d\d-/);
  await assertAccessible(page);
  const link = await shelf(page).getByRole("link", { name: "nn.onnx", exact: true }).getAttribute("href");
  assert.match(link, /^#\/inspect\?.*model=file:nn\.onnx(@|%40)[a-z0-9]+$/);
  await shelf(page).getByRole("link", { name: "nn.onnx", exact: true }).click();
  await page.locator(".form-bar .what", { hasText: "nn.onnx" }).waitFor();
  await waitForState(page, "done");
  // A benchmark and a profile whose links name the content but hold no file run by themselves, also under another name.
  const model = new URLSearchParams(link.split("?")[1]).get("model");
  await openApp(page, `${url}?bench#/benchmark?v=1&model=${encodeURIComponent(model)}&batch_sizes=4&duration=1`);
  await waitForState(page, "done");
  assert.equal(await page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr").count(), 4);
  await openApp(page, `${url}?profile#/profile?v=1&model=${encodeURIComponent(model.replace("nn.onnx", "renamed.onnx"))}&tool=overview`);
  await waitForState(page, "done");
  await page.getByText("Device window", { exact: true }).first().waitFor();
  // A pinned file stays; after its removal, links ask for it again.
  await listed(page, url, 4);
  await button(page, "Remove nn.onnx").click();
  await openApp(page, `${url}?gone#/benchmark?v=1&model=${encodeURIComponent(model)}&duration=1`);
  await page.getByText(/This names the file nn\.onnx/).filter({ visible: true }).first().waitFor();
}));
