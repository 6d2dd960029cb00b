// What is shown is what was asked for last, also for somebody who was here before, and by clicks inside the page: nothing that is open,
// kept or filled in from before stands in its place.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, eventually, openApp, waitForState } from "./support/app.mjs";
import { assertOneSubject, settled } from "./support/subject.mjs";
import { walk } from "./support/walk.mjs";

const app = appFixture();
const FIXTURES = fileURLToPath(new URL("../it/fixtures", import.meta.url));
const read = (path) => readFileSync(`${FIXTURES}/${path}`);
const MLP = { name: "mlp.onnx", mimeType: "", buffer: read("models/onnx/dynamic-batch-mlp--torch2.9.1.onnx") };
const NN = { name: "nn.onnx", mimeType: "", buffer: read("models/onnx/nn-442--torch2.9.1.onnx") };
const TRACE = { name: "trace.json", mimeType: "", buffer: read("traces/catapult_nanoseconds.json") };
const BAD = { name: "bad.onnx", mimeType: "", buffer: Buffer.from("no model at all") };
const WIDTHS = [{ width: 1440, height: 900 }, { width: 390, height: 844 }];
const head = (page, name) => page.locator("header nav a").filter({ hasText: new RegExp(`^${name}$`) });

/** Opens a page of the head by a click. */
async function tab(page, name) {
  if (await page.locator("#pages-toggle").isVisible()) await page.locator("#pages-toggle").click();
  await head(page, name).click();
  await page.waitForFunction((title) => document.querySelector("main:not([data-early]) h1")?.textContent === title || document.title.includes(title), name);
}

const drop = (page, file) => page.locator("#open-file").first().setInputFiles(file);

/** A test at both widths, in a browser where the page was visited before: Benchmark with its example, and a profile. */
function visit(name, body) {
  for (const viewport of WIDTHS) {
    test(`${name}, ${viewport.width} px`, app.page(async (page, url) => {
      await openApp(page, `${url}#/benchmark`);
      await waitForState(page, "done");
      const again = await page.context().newPage();
      await page.close();
      await openApp(again, url);
      await body(again, url);
    }, { open: false, context: { viewport } }));
  }
}

visit("an own model has its own results", async (page) => {
  await drop(page, MLP);
  await page.locator(".model-card").waitFor();
  await waitForState(page, "done");
  const now = await assertOneSubject(page, "after the drop");
  assert.match(now.hash, /model=file:mlp\.onnx/);
  assert.match(now.bar, /^mlp\.onnx/);
  assert.ok(now.requests.length > 0 && now.tiles > 0);
  // A third visit, with another model.
  await drop(page, NN);
  await eventually(async () => assert.match((await assertOneSubject(page)).bar, /^nn\.onnx/));
});

visit("the own model follows to every tab", async (page) => {
  await drop(page, MLP);
  await page.locator(".model-card").waitFor();
  await page.locator(".model-card").getByRole("link", { name: "Look at the model" }).click();
  await waitForState(page, "done");
  const inspected = await assertOneSubject(page, "look at the model");
  assert.match(inspected.hash, /^#\/inspect\?.*model=file:mlp\.onnx/);
  await tab(page, "Profile");
  await page.waitForFunction(() => location.hash.includes("model=file:mlp.onnx"));
  await waitForState(page, "done");
  assert.match((await assertOneSubject(page, "profile")).run, /^mlp\.onnx/);
  await tab(page, "Numerics");
  await page.getByText(/^PASS /).waitFor();
  assert.match((await assertOneSubject(page, "numerics")).hash, /^#\/numerics\?.*model=file:mlp\.onnx/);
  await tab(page, "Inspect");
  assert.match((await assertOneSubject(page, "inspect")).hash, /model=file:mlp\.onnx/);
  await tab(page, "Benchmark");
  assert.match((await assertOneSubject(page, "benchmark")).bar, /^mlp\.onnx/);
});

visit("a comparison of two runs compares these, whatever is open", async (page) => {
  await page.evaluate(() => { location.hash = "#/profile?v=1&model=nn&workflow=mark_step"; });
  await waitForState(page, "done");
  await assertOneSubject(page);
  await tab(page, "Guide");
  const chapter = "BERT compiled ahead against BERT recorded";

  await page.getByRole("link", { name: `Open: ${chapter}` }).click();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await page.locator('.workspace-view[data-view="compare"]').waitFor();
  await waitForState(page, "done");
  await eventually(async () => {
    const now = await assertOneSubject(page, "the comparison");
    assert.match(now.run, /^bert-base-uncased/);
    assert.match(await page.locator(".workspace-view").innerText(), /bert-base-uncased[^]*bert-base-uncased/);
    assert.doesNotMatch(await page.locator(".workspace-view").innerText(), /of nn\b/);
  });
});

visit("a config.json that is dropped is run, and a refused one leaves nothing", async (page) => {
  const config = (more) => Buffer.from(JSON.stringify({ model_type: "llama", hidden_size: 2048, num_hidden_layers: 4, num_attention_heads: 16, num_key_value_heads: 8, intermediate_size: 4096, vocab_size: 32000, max_position_embeddings: 4096, architectures: ["LlamaForCausalLM"], ...more }));
  await tab(page, "LLMs");
  await waitForState(page, "done");
  const before = await assertOneSubject(page);
  await drop(page, { name: "config.json", mimeType: "", buffer: config({}) });
  await page.waitForFunction(() => location.hash.includes("config="));
  await waitForState(page, "done");
  const own = await assertOneSubject(page, "the dropped model");
  assert.ok(own.requests.length > 0 && own.bar !== before.bar && !own.bar.includes("llama-3-8b"), own.bar);
  await drop(page, { name: "config.json", mimeType: "", buffer: config({ model_type: "no-such-model" }) });
  await eventually(async () => {
    const refused = await assertOneSubject(page, "the refused model");
    assert.deepEqual([refused.requests, refused.tiles], [[], 0]);
    assert.doesNotMatch(refused.bar, /llama-3-8b/);
  });
  await page.getByText(/no-such-model/).first().waitFor();
});

visit("a refused file says so where the person looks, and leads back", async (page) => {
  await drop(page, BAD);
  await page.locator("main").getByText(/bad\.onnx/).first().waitFor();
  await eventually(async () => {
    const now = await assertOneSubject(page, "from the start page");
    assert.deepEqual([now.requests, now.tiles, now.hash], [[], 0, "#/benchmark"]);
    assert.equal(now.bar, "bad.onnx");
  });
  // With results, they are one press away.
  await drop(page, NN);
  await eventually(async () => assert.match((await assertOneSubject(page)).bar, /^nn\.onnx/));
  await drop(page, BAD);
  await page.getByRole("button", { name: /^Show nn\.onnx.* again$/ }).click();
  const back = await assertOneSubject(page, "back");
  assert.match(back.bar, /^nn\.onnx/);
  assert.ok(back.tiles > 0);
});

visit("a trace, a link and a tab each show themselves", async (page, url) => {
  await drop(page, TRACE);
  await eventually(async () => assert.match((await assertOneSubject(page, "trace")).hash, /file=trace\.json/));
  await page.evaluate(() => { location.hash = "#/profile?v=1&model=mlp&workflow=trace"; });
  await eventually(async () => assert.match((await assertOneSubject(page, "link")).run, /^mlp/));
  await page.goBack();
  await eventually(async () => assert.match((await assertOneSubject(page, "back")).hash, /file=trace\.json/));
  await page.evaluate(() => { location.hash = "#/benchmark?v=1&model=nn&duration=5&seed=3"; });
  await eventually(async () => assert.match((await assertOneSubject(page, "benchmark")).hash, /seed=3/));
  // The form is a draft: the address and the figures stay.
  await page.locator(".form-bar .edit:visible").click();
  const seed = page.getByLabel("Seed", { exact: true });
  if (!(await seed.isVisible())) await page.locator("#bench-form summary").filter({ hasText: "Advanced" }).click();
  await seed.fill("4");
  const draft = await assertOneSubject(page, "draft");
  assert.match(draft.hash, /seed=3/);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await eventually(async () => assert.match((await assertOneSubject(page, "run")).hash, /seed=4/));
  assert.ok(url);
});

test("a notice is about what is shown, and goes with it", app.page(async (page) => {
  await page.getByText(/is not a|no field|could not be used/).first().waitFor();
  await tab(page, "Guide");
  await settled(page);
  assert.equal(await page.locator(".notice").count(), 0);
}, { hash: "#/numerics?v=1&model=mlp&seed=-1" }));

for (const viewport of WIDTHS) {
  test(`a walk of random actions never shows figures of something else, ${viewport.width} px`, app.page(async (page, url) => {
    await walk(page, url, { seed: viewport.width, actions: 60 });
  }, { open: false, context: { viewport } }));
}
