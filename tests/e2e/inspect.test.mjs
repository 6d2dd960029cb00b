// The page of models: the five kinds of files dropped and models of the list, as tree, picture, table and passes; links.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, assertAccessible, download, editForm, menuEntry, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const MODELS = fileURLToPath(new URL("../it/fixtures/models/", import.meta.url));
const FILES = [
  { name: "nn.pt2", bytes: gunzipSync(readFileSync(`${MODELS}pt2/nn-442--torch2.9.1.pt2.gz`)), operator: "aten::" },
  { name: "nn.pt", bytes: gunzipSync(readFileSync(`${MODELS}torchscript/nn-442--torch2.9.1-ts.pt.gz`)), operator: "aten::" },
  { name: "nn.onnx", bytes: readFileSync(`${MODELS}onnx/nn-442--torch2.9.1.onnx`), operator: "Gemm" },
  { name: "nn.hlo.txt", bytes: readFileSync(`${MODELS}hlo/nn-442--torchxla2.9.0-named.hlo.txt`), operator: "addmm" },
  { name: "nn.mlir", bytes: readFileSync(`${MODELS}stablehlo/flax-nn-442--jax0.10.2.mlir`), operator: "dot" },
];

/** Drops a file anywhere on the page. */
async function drop(page, name, bytes) {
  const data = await page.evaluateHandle(
    ([fileName, numbers]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(numbers)], fileName));
      return transfer;
    },
    [name, [...bytes]],
  );
  for (const type of ["dragenter", "dragover", "drop"]) await page.dispatchEvent("body", type, { dataTransfer: data });
}

const tree = (page) => page.getByRole("tree", { name: "Modules and operators" });
const rows = (page) => tree(page).getByRole("treeitem");
const picture = (page) => page.locator(".model-frame svg");

test("a dropped model of each kind is a picture, wherever it is dropped", app.page(async (page) => {
  for (const { name, bytes, operator } of FILES) {
    await drop(page, name, bytes);
    await page.locator(".form-bar .what", { hasText: name }).waitFor();
    await waitForState(page, "done");
    await page.waitForFunction(() => location.hash.startsWith("#/inspect"));
    await page.getByRole("heading", { name: "Obstacles for this model on a NeuronCore" }).waitFor();
    await page.getByRole("button", { name: "Table", exact: true }).click();
    const table = page.getByRole("table", { name: "Operators in the order of the program" });
    await table.getByText(operator).first().waitFor();
    await page.getByRole("button", { name: "Graph", exact: true }).click();
    await picture(page).waitFor();
  }
  await assertAccessible(page);
}, { hash: "#/matmult" }));

test("modules are opened, found and linked", app.page(async (page, url) => {
  await rows(page).first().waitFor();
  await editForm(page);
  await page.getByLabel("Model", { exact: true }).fill("bert-base-uncased");
  await waitForState(page, "done");
  await tree(page).getByText("BertEncoder[encoder]").waitFor();
  const before = await rows(page).count();
  assert.ok(before > 10 && before < 90, `${before} rows at first`);
  // By keys: go to the first closed module, and open it.
  await tree(page).focus();
  await page.keyboard.press("Home");
  await page.locator('[role="treeitem"][aria-selected="true"]').waitFor();
  const closed = rows(page).and(page.locator('[aria-expanded="false"]')).first();
  const title = await closed.getAttribute("title");
  await closed.click();
  await page.locator(`[role="treeitem"][aria-selected="true"][title="${title}"]`).waitFor();
  await tree(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(`[role="treeitem"][aria-expanded="true"][title="${title}"]`).waitFor();
  await page.getByRole("region", { name: "Selected" }).getByRole("table", { name: "Details" }).waitFor();
  await page.getByRole("searchbox", { name: "Search modules and operators" }).fill("softmax");
  await page.getByText(/1[0-9] found|[2-9][0-9] found/).waitFor();
  await page.keyboard.press("Enter");
  await page.locator('[role="treeitem"][aria-selected="true"]', { hasText: "softmax" }).waitFor();
  await page.waitForFunction(() => location.hash.includes("selected=") && location.hash.includes("search=softmax"));
  await assertAccessible(page);
  const { name, bytes } = await download(page, await menuEntry(page, "Picture"));
  assert.equal(name, "bert-base-uncased.svg");
  assert.match(bytes.toString(), /^<svg [^>]*>\s*<title>bert-base-uncased/);
  // The link shows the same in another tab.
  const hash = await page.evaluate(() => location.hash);
  const other = await page.context().newPage();
  await openApp(other, url + hash);
  await waitForState(other, "done");
  await other.locator('[role="treeitem"][aria-selected="true"]', { hasText: "softmax" }).waitFor();
  // Only visible lines are rendered.
  await tree(other).evaluate((element) => element.scrollTo(0, 0));
  await other.locator(`[role="treeitem"][aria-expanded="true"][title="${title}"]`).waitFor();
  // What a pass changed, side by side.
  await other.getByRole("button", { name: "Compiler passes", exact: true }).click();
  await other.getByRole("button", { name: "7", exact: true }).click();
  await other.getByRole("heading", { name: "Step 7: fusion" }).waitFor();
  await assertAccessible(other);
}, { hash: "#/inspect" }));

test("a picture is clicked, moved and enlarged, and nodes open by two clicks", app.page(async (page) => {
  await picture(page).waitFor();
  const place = () => page.locator(".model-frame svg > g").getAttribute("transform");
  const at = await place();
  await page.getByRole("button", { name: "Enlarge" }).click();
  assert.notEqual(await place(), at);
  await page.locator(".model-frame").focus();
  await page.keyboard.press("0");
  const module = page.locator(".model-frame .closed > .box").first();
  const rowsBefore = await rows(page).count();
  await module.click();
  await page.locator(".model-frame .selected").waitFor();
  await page.locator(".model-frame").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((n) => document.querySelectorAll('[role="treeitem"]').length > n, rowsBefore);
  await page.locator(".model-frame .selected.open > .box").dblclick({ position: { x: 8, y: 8 } });
  await page.waitForFunction((n) => document.querySelectorAll('[role="treeitem"]').length === n, rowsBefore);
}, { hash: "#/inspect?model=nn" }));

test("a file that is not a readable model is refused with what to do instead", app.page(async (page) => {
  const pickled = gunzipSync(readFileSync(`${MODELS}pt2/nn-442--torch2.9.1-pickled-module.pt.gz`));
  await drop(page, "pickled.pt", pickled);
  await waitForState(page, "failed");
  await page.getByText(/torch\.export\.save/).first().waitFor();
  // A link to a file says which one is wanted.
  await page.evaluate(() => { location.hash = "#/inspect?model=file:mine.onnx@12345678"; });
  await page.getByText(/mine\.onnx.*not open/).waitFor();
}, { hash: "#/matmult" }));

test("the page fits a phone", app.page(async (page) => {
  await picture(page).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  await assertAccessible(page);
}, { hash: "#/inspect?model=nn", context: { viewport: { width: 390, height: 844 } } }));

const field = (page, label) => page.getByLabel(label, { exact: true });
const address = (page) => page.evaluate(() => location.hash);
const onCore = (page) => page.locator(".tile", { hasText: "Time on the core" }).first();

test("a file with an open size asks for it, and its link holds file and answer", app.page(async (page, url) => {
  const bytes = readFileSync(`${MODELS}onnx/dynamic-batch-mlp--torch2.9.1-onnx-legacy-dynamic.onnx`);
  await drop(page, "mlp.onnx", bytes);
  await waitForState(page, "done");
  const size = field(page, "Size of batch");
  await size.waitFor();
  assert.equal(await size.getAttribute("placeholder"), "1");
  const before = await onCore(page).textContent();
  await page.locator(".model-frame").getByText(/f32\[1,32\]/).first().waitFor();
  // Text that is not a size is refused at the field, and the shown view stays.
  await size.fill("0");
  await page.getByText(/batch: '0' is not a size of this dimension/).waitFor();
  await size.fill("512");
  await page.locator(".model-frame").getByText(/f32\[512,32\]/).first().waitFor();
  await waitForState(page, "done");
  assert.notEqual(await onCore(page).textContent(), before);
  await page.getByText(/The link holds mlp\.onnx \(.*, as [0-9,]+ letters\)/).waitFor();
  await page.waitForFunction(() => location.hash.includes("model_file=1.") && decodeURIComponent(location.hash).includes("batch=512"));
  await assertAccessible(page);
  // The link works without the file: another browser has never seen it.
  const hash = await address(page);
  const context = await page.context().browser().newContext();
  try {
    const other = await context.newPage();
    await openApp(other, url.split("#")[0] + hash);
    await other.locator(".model-frame").getByText(/f32\[512,32\]/).first().waitFor();
    await editForm(other);
    assert.equal(await field(other, "Size of batch").inputValue(), "512");
    // The other browser also runs it: the same file on the page of benchmarks.
    await other.locator("form a", { hasText: "Benchmark" }).click();
    await other.getByRole("heading", { name: "Benchmark", exact: true }).waitFor();
    await other.getByText(/The link holds mlp\.onnx/).waitFor();
    await editForm(other);
    assert.equal(await field(other, "Batch sizes").inputValue(), "512");
    await waitForState(other, "done");
    await other.getByRole("table").first().waitFor();
  } finally {
    await context.close();
  }
}, { hash: "#/inspect" }));

test("an operator without a known meaning is placed by the user", app.page(async (page) => {
  await drop(page, "custom.pt2", gunzipSync(readFileSync(`${MODELS}pt2/custom-op--torch2.9.1.pt2.gz`)));
  await waitForState(page, "done");
  const place = field(page, "Place of byom::fancy_act");
  await place.waitFor();
  assert.equal(await place.inputValue(), "elementwise");
  const before = await onCore(page).textContent();
  await place.selectOption("sort");
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes("byom::fancy_act=sort"));
  await page.waitForFunction((text) => document.querySelector(".tile")?.textContent !== text, before);
  await page.getByText(/The time of byom::fancy_act is an estimate/).waitFor();
}, { hash: "#/inspect" }));

test("a large file stays where it is: its link asks for it by name and content", app.page(async (page, url) => {
  // Incompressible numbers, after the last byte of the program.
  const small = readFileSync(`${MODELS}hlo/nn-442--torchxla2.9.0-named.hlo.txt`);
  const noise = [];
  for (let i = 0, seed = 1; i < 200_000; i += 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    noise.push(33 + (seed >>> 24) % 90);
  }
  const large = Buffer.concat([small, Buffer.from("\n// "), Buffer.from(noise)]);
  await drop(page, "large.hlo.txt", large);
  await waitForState(page, "done");
  await page.getByText(/The link names large\.hlo\.txt \(content [a-z0-9]{8}\) but does not hold it/).waitFor();
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes("file:large.hlo.txt@"));
  const hash = await address(page);
  assert.ok(!hash.includes("model_file"), hash);
  const context = await page.context().browser().newContext();
  try {
    const other = await context.newPage();
    await openApp(other, url.split("#")[0] + hash);
    await waitForState(other, "failed");
    await other.getByText(/large\.hlo\.txt is a file \(content [a-z0-9]{8}\) that is not open/).first().waitFor();
  } finally {
    await context.close();
  }
}, { hash: "#/inspect" }));

test("a file that is dropped before the first model is there is shown, though its readers come late", app.page(async (page, url) => {
  // Opening then lasts longer than the page waits before it asks for the first model.
  await page.context().route("**/reader*", async (route) => {
    await new Promise((done) => setTimeout(done, 300));
    await route.continue();
  });
  await page.goto(`${url}#/inspect`);
  // Of the stored example, which may still stand in front of the page's own, or of the page.
  await page.locator(".form-bar .what").first().waitFor();
  const { name, bytes } = FILES.at(-1);
  await drop(page, name, bytes);
  await waitForState(page, "done");
  await page.locator(".form-bar .what", { hasText: name }).waitFor();
  await page.getByText(/The link holds nn\.mlir/).waitFor();
  await waitForState(page, "done");
}, { open: false }));

test("a program that the compiler refuses is shown with the reason at its node", app.page(async (page) => {
  await drop(page, "while.mlir", readFileSync(`${MODELS}stablehlo/jax-while-data-dependent--jax0.10.2.mlir`));
  await waitForState(page, "done");
  await page.getByText("It cannot run on a NeuronCore.").waitFor();
  const node = page.locator(".model-frame .refused").first();
  await node.waitFor();
  await node.click();
  await page.getByRole("region", { name: "Selected" }).getByText(/data decides how often it turns/).waitFor();
  await assertAccessible(page);
}, { hash: "#/inspect" }));
