// Language models: the figures of the command line, the grid, a link, a config.json, a token as a timeline.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { appFixture, assertAccessible, chooseTool, download, editForm, eventually, menuEntry, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const tile = (page, name) => page.locator(".tiles .tile", { has: page.getByText(name, { exact: true }) });
const grid = (page) => page.getByRole("table", { name: /^Where it fits/ });

test("the page opens on a result, which is the command line's to the byte", app.page(async (page) => {
  await waitForState(page, "done");
  await assertAccessible(page);
  const line = await page.getByLabel("Command", { exact: true }).innerText();
  const printed = spawnSync("sh", ["-c", `${line.replace(/^neuronscope /, '"$NEURONSCOPE_CLI" ')} --json`], { encoding: "utf8" });
  assert.equal(printed.status, 0, printed.stderr);
  const { bytes } = await download(page, await menuEntry(page, "Download JSON"));
  assert.equal(bytes.toString(), printed.stdout);
  const { tpot_p50_ms } = JSON.parse(printed.stdout);
  assert.ok((await tile(page, "A token, median").innerText()).includes(`${tpot_p50_ms.toFixed(2)} ms`));
  assert.ok((await grid(page).locator("tbody tr").count()) > 40);
  assert.ok((await page.locator(".bars li").count()) >= 7);
}, { hash: "#/llm" }));

test("a row of the grid is run, and its link opened again gives the same figures", app.page(async (page, url) => {
  await waitForState(page, "done");
  const row = grid(page).locator("tbody tr").filter({ hasText: "trn1.2xlarge" }).first();
  await row.getByRole("button").first().click();
  await page.waitForFunction(() => location.hash.includes("instance=trn1.2xlarge"));
  await waitForState(page, "done");
  await eventually(async () => assert.match(await page.locator(".document h2").innerText(), /on 1 core of trn1\.2xlarge/));
  const figures = await page.locator(".tiles").innerText();
  const link = await page.evaluate(() => location.hash);
  const other = await page.context().newPage();
  await openApp(other, url + link);
  await waitForState(other, "done");
  await eventually(async () => assert.equal(await other.locator(".tiles").innerText(), figures));
  await other.close();
}, { hash: "#/llm?v=1&batch=2" }));

test("a cell of all models runs that model there, and a cell that does not fit is no button", app.page(async (page) => {
  await waitForState(page, "done");
  const all = page.getByRole("region", { name: /^All models at batch 1/ });
  const row = all.locator("tbody tr").filter({ hasText: "llama-2-70b" });
  await row.getByRole("cell", { name: /^\u2212/ }).first().waitFor();
  assert.equal(await row.getByRole("cell", { name: /^\u2212/ }).getByRole("button").count(), 0);
  await row.getByRole("button", { name: "TP 12" }).first().click();
  await page.waitForFunction(() => location.hash.includes("model=llama-2-70b") && location.hash.includes("tp=12"));
  await waitForState(page, "done");
  await eventually(async () => assert.match(await page.locator(".document h2").innerText(), /^llama-2-70b.* on 12 cores/));
}, { hash: "#/llm" }));

test("what does not fit says by how much and what would, and the grid answers all the same", app.page(async (page) => {
  await waitForState(page, "done");
  await page.getByText(/are missing; it fits at no degree of this instance, and on /).waitFor();
  await grid(page).getByText(/GiB are missing/).first().waitFor();
  await assertAccessible(page);
}, { hash: "#/llm?v=1&model=llama-3-70b&instance=inf2.xlarge&tp=2" }));

test("limits name the cheapest place, and a wrong field says what is right", app.page(async (page) => {
  await waitForState(page, "done");
  await page.getByText(/^The cheapest within the limits is /).waitFor();
  await editForm(page);
  await page.getByLabel("TP", { exact: true }).fill("many");
  await page.getByText("tp: 'many' is not a whole number above 0").waitFor();
}, { hash: "#/llm?v=1&batch=4&max_ttft_ms=500&max_tpot_ms=20" }));

test("requests that arrive at random have percentiles, goodput and a curve, and the command line's file", app.page(async (page) => {
  await waitForState(page, "done");
  await page.getByRole("heading", { name: "0.5 requests a second arrive at random" }).waitFor();
  for (const name of ["First token of a request, median", "Token of a request, median", "Goodput"]) await tile(page, name).waitFor();
  await page.getByText("Goodput by rate").waitFor();
  await assertAccessible(page);
  const line = await page.getByLabel("Command", { exact: true }).last().innerText();
  const printed = spawnSync("sh", ["-c", `${line.replace(/^neuronscope /, '"$NEURONSCOPE_CLI" ')} --json`], { encoding: "utf8" });
  assert.equal(printed.status, 0, printed.stderr);
  const { bytes } = await download(page, await menuEntry(page, "Download JSON of the requests"));
  assert.equal(bytes.toString(), printed.stdout);
}, { hash: "#/llm?v=1&batch=8&request_rate=0.5&max_ttft_ms=1000" }));

test("a name of the hub is typed, and its storage stays in the link", app.page(async (page) => {
  await waitForState(page, "done");
  await editForm(page);
  await page.getByRole("combobox", { name: "Model" }).fill("bartowski/Llama-3.2-1B-Instruct-Q8_0.gguf");
  await page.locator(".form-bar .run, .form-bar button", { hasText: "Run" }).first().click();
  await page.waitForFunction(() => location.hash.includes("Q8_0.gguf"));
  await waitForState(page, "done");
  await eventually(async () => assert.match(await page.locator(".document h2").innerText(), /^llama-3\.2-1b, int8/));
}, { hash: "#/llm?v=1&output=128" }));

test("a config.json that is dropped anywhere is simulated, and a token is a timeline", app.page(async (page) => {
  const docs = readFileSync(new URL("../../docs/llm.md", import.meta.url), "utf8");
  const config = docs.split("```json config.json")[1].split("```")[0];
  await page.locator("#open-file").setInputFiles({ name: "config.json", mimeType: "application/json", buffer: Buffer.from(config) });
  await page.waitForFunction(() => location.hash.startsWith("#/llm"));
  await page.locator(".form-bar .run, .form-bar button", { hasText: "Run" }).first().click();
  await waitForState(page, "done");
  await page.locator(".document h2", { hasText: "config.json" }).waitFor();
  await page.getByRole("button", { name: "Open as timeline" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await waitForState(page, "done");
  await page.getByRole("application", { name: "Timeline" }).waitFor();
}, { hash: "#/benchmark?v=none" }));

const layers = (count, of) => Array.from({ length: count }, (_, i) => of(i));
const experts = { model_type: "mixtral", hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, num_attention_heads: 32,
  num_key_value_heads: 8, num_local_experts: 8, num_experts_per_tok: 2, vocab_size: 32000, max_position_embeddings: 32768, sliding_window: null };
const windows = { model_type: "gpt_oss", hidden_size: 2880, intermediate_size: 2880, num_hidden_layers: 24, num_attention_heads: 64, head_dim: 64,
  num_key_value_heads: 8, num_local_experts: 32, num_experts_per_tok: 4, vocab_size: 201088, max_position_embeddings: 131072, attention_bias: true,
  sliding_window: 128, layer_types: layers(24, (i) => (i % 2 ? "full_attention" : "sliding_attention")), quantization_config: { quant_method: "mxfp4" } };
const sees = { model_type: "qwen3_vl", vision_config: { depth: 24, hidden_size: 1024 }, text_config: { model_type: "qwen3_vl_text", hidden_size: 2560,
  intermediate_size: 9728, num_hidden_layers: 36, num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, vocab_size: 151936,
  max_position_embeddings: 262144, tie_word_embeddings: true } };
for (const [what, config, title, parts, remark] of [
  ["experts", experts, "bf16", ["experts", "router"], null],
  ["experts, windows and a storage of its own", windows, "mxfp4", ["experts", "router"], /mxfp4/],
  ["a part for pictures", sees, "bf16", ["weights"], /vision_config/],
]) {
  test(`a config.json with ${what} is dropped and run, with its parts and remarks`, app.page(async (page) => {
    await page.locator("#open-file").setInputFiles({ name: "config.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(config)) });
    await page.locator(".form-bar .run, .form-bar button", { hasText: "Run" }).first().click();
    await page.locator(".document h2", { hasText: `config.json, ${title}` }).waitFor();
    await waitForState(page, "done");
    for (const part of parts) await page.locator(".shares li", { hasText: part }).first().waitFor();
    const text = await page.locator("main").innerText();
    if (remark) assert.match(text, remark);
    await page.getByText("tokens for a user against tokens for a dollar").waitFor();
    await assertAccessible(page);
  }, { hash: "#/llm?v=1&instance=trn2.48xlarge&tp=8" }));
}

test("the timeline of a token is a link that needs no file", app.page(async (page, url) => {
  await waitForState(page, "done");
  await page.getByRole("button", { name: "Open as timeline" }).click();
  const timeline = page.getByRole("application", { name: "Timeline" });
  await timeline.waitFor();
  await settledAddress(page);
  const hash = await page.evaluate(() => location.hash);
  const named = (of) => of.getByLabel("Run", { exact: true }).locator("option:checked").innerText();
  const name = await named(page);
  assert.match(name, /^LLMs: llama-2-7b, inf2\.48xlarge, tp 12, batch 2, /);
  const other = await page.context().browser().newPage();
  try {
    await openApp(other, url + hash);
    await other.getByRole("application", { name: "Timeline" }).waitFor();
    await waitForState(other, "done");
    await settledAddress(other);
    assert.equal(await other.evaluate(() => location.hash), hash);
    assert.equal(await named(other), name);
  } finally {
    await other.close();
  }
}, { hash: "#/llm?v=1&model=llama-2-7b&instance=inf2.48xlarge&tp=12&batch=2" }));
