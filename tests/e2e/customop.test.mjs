// The page of custom operators: a kernel is chosen, edited and run; the figures are the command line's; a mistake is shown at its
// line; an endless kernel does not block the page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appFixture, assertAccessible, download, eventually, menuEntry, openApp, reloaded, waitForState, waiting } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });
const SOURCE = "#customop-source";
// Small enough that every run is over at once.
const SMALL = waiting("#/customop?v=1&kernel=relu-tcm&layers=16,64,10&batch=4");

function commandLine(args) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const { stdout } = spawnSync(process.env.NEURONSCOPE_CLI, ["customop", ...args, "--json"], { maxBuffer: 1 << 28, encoding: "utf8" });
  return stdout;
}

const downloaded = async (page) => (await download(page, await menuEntry(page, "Download JSON"))).bytes.toString();
const run = async (page, state = "done") => {
  await button(page, "Run").click();
  await waitForState(page, state);
};

test("a kernel is chosen and run, with the command line's figures, and opens as a timeline", app.page(async (page) => {
  await page.getByLabel("Kernel", { exact: true }).selectOption("relu-multicore");
  await eventually(async () => assert.match(await page.locator(SOURCE).inputValue(), /get_cpu_id/));
  assert.ok(await page.getByLabel("Run on all processors").isChecked());
  await page.locator("form summary:not(.button)").click();
  await page.getByLabel("Input shape").fill("1003");
  await page.getByLabel("Inputs hold").selectOption("ramp");
  await run(page);
  const printed = commandLine(["--kernel", "relu-multicore", "--layers", "16,64,10", "--batch", "4", "--input", "1003", "--fill", "ramp"]);
  assert.equal(await downloaded(page), printed);
  // The tutorial's mistake is explained, and shown at its line.
  const found = JSON.parse(printed).diagnostics.find((d) => d.code === "unwritten");
  await page.locator(".finding").getByText(found.message).waitFor();
  const line = page.locator(".source-text tbody tr").nth(found.line - 1);
  assert.match(await line.innerText(), /elements do not divide by 8 processors/);
  // A source longer than its box scrolls in it, with its numbers.
  const [numbers, text] = await page.locator(`.source-editor > pre, ${SOURCE}`).evaluateAll((all) => all.map((e) => e.getBoundingClientRect().height));
  assert.ok(Math.abs(numbers - text) < 1, `numbers ${numbers}, text ${text}`);
  await assertAccessible(page);
  await button(page, "Open as timeline").click();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await waitForState(page, "done");
  await page.getByRole("heading", { name: "customop-trace.json" }).waitFor();
  await page.getByRole("application", { name: "Timeline" }).waitFor();
}, { hash: SMALL }));

test("an edited kernel is run, compared with its reference, and travels in the link", app.page(async (page) => {
  await page.getByLabel("Kernel", { exact: true }).selectOption("own");
  await eventually(async () => assert.match(await page.locator(SOURCE).inputValue(), /write\(x \* x\)/));
  const source = (await page.locator(SOURCE).inputValue()).replace("write(x * x)", "write(x * x + 1.0f)");
  await page.locator(SOURCE).fill(source);
  await page.locator("form summary:not(.button)").click();
  await page.getByLabel("Reference").fill("x * x + 1");
  await run(page);
  await page.locator(".tile", { hasText: "Values" }).getByText("exact").waitFor();
  const folder = mkdtempSync(join(tmpdir(), "customop-"));
  try {
    const file = join(folder, "own");
    writeFileSync(file, source);
    const printed = JSON.parse(commandLine(["--kernel", file, "--layers", "16,64,10", "--batch", "4", "--reference", "x * x + 1"]));
    assert.deepEqual({ ...JSON.parse(await downloaded(page)), kernel: "" }, { ...printed, kernel: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.match(page.url(), new RegExp(`source=${Buffer.byteLength(source.trim())}(~|%7E)`));
  const other = await page.context().newPage();
  await openApp(other, page.url());
  // It runs by itself.
  await waitForState(other, "done");
  assert.equal(await other.locator(SOURCE).inputValue(), source.trim());
  assert.equal(await other.getByLabel("Reference").inputValue(), "x * x + 1");
}, { hash: SMALL }));

test("mistakes are said at line and column, and the page goes on", app.page(async (page) => {
  for (const [body, line, code] of [
    ["torch::Tensor f(const torch::Tensor& t) {\n  return t\n}", 3, "syntax"],
    ["torch::Tensor f(const torch::Tensor& t) {\n  return u;\n}", 2, "unknown_name"],
    ["torch::Tensor f(const torch::Tensor& t) {\n  auto a = t.accessor<float, 2>();\n  float x = a[99][0];\n  return t;\n}", 3, "out_of_bounds"],
    ["torch::Tensor f(const torch::Tensor& t) {\n  float* b = (float*)torch::neuron::tcm_malloc(64);\n  return t;\n}", 2, "tcm_leak"],
    ["torch::Tensor f(const torch::Tensor& t) {\n  while (true) { }\n  return t;\n}", 2, "step_limit"],
  ]) {
    await page.locator(SOURCE).fill(body);
    await run(page);
    await page.locator(".finding").getByText(new RegExp(`at line ${line}, column \\d+ \\(${code}\\)`)).first().waitFor();
    assert.match(await page.locator(".source-text tbody tr").nth(line - 1).innerText(), new RegExp(`\\[${code}\\]`));
    // A wave is under it in the editor, at the height of its line.
    const wave = page.locator(".wave").first();
    const [of, text] = await Promise.all([wave.boundingBox(), page.locator(SOURCE).boundingBox()]);
    assert.equal(Math.floor((of.y - text.y - 8) / (13 * 1.5)), line - 1);
  }
  // An edited line loses its wave until the next run.
  await page.locator(SOURCE).fill("torch::Tensor f(const torch::Tensor& t) {\n  while (1) { }\n  return t;\n}");
  assert.equal(await page.locator(".wave").count(), 0);
  // This is forbidden with all processors.
  await page.locator(SOURCE).fill("torch::Tensor f(const torch::Tensor& t) {\n  auto a = t.accessor<float, 2>();\n  float x = a[0][0];\n  return t;\n}");
  await page.getByLabel("Run on all processors").check();
  await run(page);
  await page.locator(".finding").getByText(/\(single_core_only\)/).waitFor();
  assert.match(await page.locator(".tile", { hasText: "Values" }).innerText(), /does not finish: line 2/);
}, { hash: SMALL }));

test("a long run is cancelled, by keyboard too; Tab leaves the source", app.page(async (page) => {
  await page.locator(SOURCE).focus();
  await page.keyboard.press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.id), "customop-source");
  await page.locator(SOURCE).fill("torch::Tensor f(const torch::Tensor& t) {\n  while (true) { }\n  return t;\n}");
  // A large input has a large budget of statements.
  await page.locator("form summary:not(.button)").click();
  await page.getByLabel("Input shape").fill("8000000");
  await button(page, "Run").focus();
  await page.keyboard.press("Enter");
  await waitForState(page, "running");
  await button(page, "Cancel").focus();
  await page.keyboard.press("Enter");
  await waitForState(page, "idle");
  // The page still responds.
  await page.getByLabel("Kernel", { exact: true }).selectOption("relu-element");
  await page.getByLabel("Input shape").fill("100,3");
  await run(page);
  await page.locator(".tile", { hasText: "Values" }).getByText("exact").waitFor();
}, { hash: SMALL }));

test("steps and sweeps are plotted beside each other", app.page(async (page) => {
  await page.getByLabel("Kernel", { exact: true }).selectOption("relu-multicore-fixed");
  await page.getByLabel("Compare with the tutorial").check();
  await page.getByLabel("Values of a constant").fill("buffer_size=16,64,256");
  await page.getByLabel("Processors", { exact: true }).fill("4,8");
  await page.getByLabel("Widths of the layers").fill("16,64,10; 16,128,10");
  await run(page);
  await page.getByRole("heading", { name: "The tutorial\u2019s steps" }).waitFor();
  const steps = page.getByRole("table", { name: "Steps of the tutorial" }).locator("tbody tr");
  assert.equal(await steps.count(), 3);
  assert.match(await steps.nth(1).innerText(), /elements of device memory, one by one fall from/);
  await page.getByText("Iterations/s over value of the constant").first().waitFor();
  await page.getByText("ns per element over elements of the operator in a step").first().waitFor();
  await assertAccessible(page);
  await page.getByLabel("Values of a constant").fill("tile=16");
  await run(page, "failed");
  await page.getByText(/relu-multicore-fixed has no line 'static constexpr ... tile = ...;'/).first().waitFor();
}, { hash: SMALL }));

test("the page fits a phone, light and dark", app.page(async (page) => {
  await run(page);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(inner <= outer, `${inner} > ${outer}`);
    await assertAccessible(page);
  }
}, { hash: SMALL, context: { viewport: { width: 390, height: 844 } } }));

test("element types are compared; one that the kernel does not take is a row with its reason", app.page(async (page) => {
  await page.getByLabel("Kernel", { exact: true }).selectOption("relu-any-type");
  await page.getByLabel("Element types").fill("float32,int16,bfloat16");
  await run(page);
  const rows = page.getByRole("table", { name: "Runs of the kernel" }).locator("tbody tr");
  await rows.nth(2).waitFor();
  assert.equal(await rows.count(), 3);
  assert.match(await rows.filter({ hasText: "bfloat16" }).innerText(), /not_supported/);
  await page.getByText("ns per element for each element type").first().waitFor();
  const reports = JSON.parse(await downloaded(page));
  assert.deepEqual(reports.map((r) => [r.dtype, r.complete]), [["float32", true], ["int16", true], ["bfloat16", false]]);
  assert.ok(reports[1].breakdown_ns.dma < reports[0].breakdown_ns.dma);
  assert.match(await page.locator(".command, pre", { hasText: "--dtype" }).first().innerText(), /--dtype float32,int16,bfloat16/);
  assert.match(page.url(), /dtype=float32(,|%2C)int16/);
}, { hash: SMALL }));

test("a finished study of an edited kernel is kept: a reload shows it without a run, with its files", app.page(async (page) => {
  await page.getByLabel("Kernel", { exact: true }).selectOption("own");
  await eventually(async () => assert.match(await page.locator(SOURCE).inputValue(), /write\(x \* x\)/));
  const source = (await page.locator(SOURCE).inputValue()).trim().replace("write(x * x)", "write(x * x + 2.0f)");
  await page.locator(SOURCE).fill(source);
  await run(page);
  const result = async () => [await downloaded(page), await page.locator(".results").innerText(), await page.locator(SOURCE).inputValue()];
  const before = await result();
  assert.deepEqual(await reloaded(page, result), before);
  assert.equal(before[2], source);
  await button(page, "Open as timeline").click();
  await page.getByRole("heading", { name: "customop-trace.json" }).waitFor();
}, { hash: SMALL }));

test("a C++ source that is dropped anywhere opens in the editor", app.page(async (page) => {
  const source = "// mine\n" + "#include <torch/torch.h>\n";
  await page.locator("#open-file").setInputFiles({ name: "mine.cpp", mimeType: "text/x-c++src", buffer: Buffer.from(source) });
  await page.waitForFunction(() => location.hash.startsWith("#/customop"));
  await eventually(async () => assert.equal(await page.locator(SOURCE).inputValue(), source));
  assert.equal(await page.getByLabel("Kernel", { exact: true }).inputValue(), "mine.cpp");
}, { hash: "#/" }));

test("the files of the tutorial that are dropped together are one operator, built as its script says", app.page(async (page) => {
  const source = readFileSync(new URL("../../src/kernel/operator/kernels/relu_multicore.cpp", import.meta.url), "utf8");
  const build = "from torch_neuronx.xla_impl import custom_op\n\ncustom_op.load(\n    name='relu',\n    compute_srcs=['relu.cpp'],\n    shape_srcs=['shape.cpp'],\n    multicore=True,\n)\n";
  const shape = "#include <torch/torch.h>\n\ntorch::Tensor relu_fwd_shape(torch::Tensor x) { return x; }\n";
  const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  const all = [file("build.py", build), file("relu.cpp", source), file("shape.cpp", shape)];
  await page.locator("#open-file").setInputFiles(all);
  await page.waitForFunction(() => location.hash.startsWith("#/customop"));
  await eventually(async () => assert.equal(await page.locator(SOURCE).inputValue(), source));
  assert.equal(await page.getByLabel("Run on all processors").isChecked(), true);
  await page.getByText("The kernel alone is run here, without shape.cpp.").waitFor();
  await waitForState(page, "done");
  await page.locator(".tile", { hasText: "Values" }).waitFor();
  await page.locator("#open-file").setInputFiles(all.slice(0, 1));
  await page.getByText("build.py is built from relu.cpp: drop both together").waitFor();
  assert.equal(await page.locator(SOURCE).inputValue(), source);
}, { hash: "#/" }));
