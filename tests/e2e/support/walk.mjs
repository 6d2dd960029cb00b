// A walk of random actions, the same for the same seed: after each, address, heading, bar and figures are of one subject.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openApp } from "./app.mjs";
import { assertOneSubject } from "./subject.mjs";

const FIXTURES = fileURLToPath(new URL("../../it/fixtures", import.meta.url));
const fixture = (name, path) => ({ name, mimeType: "", buffer: readFileSync(`${FIXTURES}/${path}`) });
const FILES = [
  fixture("mlp.onnx", "models/onnx/dynamic-batch-mlp--torch2.9.1.onnx"),
  fixture("nn.onnx", "models/onnx/nn-442--torch2.9.1.onnx"),
  fixture("a.json", "traces/catapult_nanoseconds.json"),
  fixture("b.json", "traces/catapult_simple_trace.json"),
  { name: "bad.onnx", mimeType: "", buffer: Buffer.from("no model at all") },
  { name: "bad.json", mimeType: "", buffer: Buffer.from("{\"traceEvents\": 7") },
  { name: "config.json", mimeType: "", buffer: Buffer.from(JSON.stringify({ model_type: "llama", hidden_size: 1024, num_hidden_layers: 2, num_attention_heads: 8, num_key_value_heads: 8, intermediate_size: 2048, vocab_size: 32000, max_position_embeddings: 4096 })) },
  { name: "config.json", mimeType: "", buffer: Buffer.from(JSON.stringify({ model_type: "no-such-model", hidden_size: 8 })) },
  { name: "own_call.py", mimeType: "", buffer: readFileSync(fileURLToPath(new URL("../../nki/language/own_call.py", import.meta.url))) },
  { name: "bad.py", mimeType: "", buffer: Buffer.from("import nki\n\n@nki.jit\ndef f(a):\n    return nki.no_such(a)\n") },
  { name: "relu.cpp", mimeType: "", buffer: Buffer.from("#include <torch/torch.h>\nTensor relu(const Tensor& t) {\n  return t;\n}\n") },
  fixture("records.jsonl", "bench/ptxla_bench_a6000.jsonl"),
  fixture("results.csv", "bench/neuronperf_model_neuron_b1.csv"),
];
const LINKS = [
  "#/benchmark?v=1&model=nn&duration=5&seed=3",
  "#/benchmark?v=1&model=mlp&duration=5",
  "#/benchmark?v=1&model=nn&seed=-1",
  "#/profile?v=1&model=nn&workflow=mark_step",
  "#/profile?v=1&model=mlp&workflow=trace",
  "#/profile?v=1&file=gone.json",
  "#/inspect?v=1&model=mlp",
  "#/inspect?v=1&model=nn&view=table",
  "#/numerics?v=1&model=nn",
  "#/matmult?v=1&matrix_dim=128&loop_count=10",
  "#/llm?v=1&model=llama-3-8b&batch=8",
  "#/customop?v=1",
  "#/nki?v=1",
  "#/nki?v=1&kernel=silu",
  "#/experiments",
];

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const among = (list, pick) => list[Math.floor(pick() * list.length)];

/** Presses one of the elements that a selector finds and a person can see; nothing if there is none. */
async function press(page, selector, pick) {
  const all = page.locator(selector).locator("visible=true");
  const count = await all.count();
  if (count === 0) return "nothing";
  const one = all.nth(Math.floor(pick() * count));
  const name = (await one.textContent().catch(() => ""))?.trim().slice(0, 40);
  await one.click({ timeout: 3000 }).catch(() => {});
  return name;
}

const ACTIONS = {
  async tab(page, pick) {
    if (await page.locator("#pages-toggle").isVisible()) await page.locator("#pages-toggle").click();
    return press(page, "header nav a, a.brand", pick);
  },
  async file(page, pick) {
    const file = among(FILES, pick);
    await page.locator("#open-file").first().setInputFiles(file);
    return file.name;
  },
  async link(page, pick) {
    const hash = among(LINKS, pick);
    await page.evaluate((to) => { location.hash = to; }, hash);
    return hash;
  },
  example: (page, pick) => press(page, ".examples button, .model-card a, .guide a.button, .form-bar a.button", pick),
  run: (page, pick) => press(page, '.form-bar button[type="submit"]', pick),
  again: (page, pick) => press(page, 'button:text-matches("^Show .* again$")', pick),
  tool: (page, pick) => press(page, "#rail-tools [data-tool]:not([aria-disabled])", pick),
  async edit(page, pick) {
    if (!(await page.locator(".form-bar .edit").locator("visible=true").count())) return "nothing";
    await press(page, '.form-bar .edit[aria-expanded="false"]', pick);
    const field = page.locator('.form-drawer input[inputmode="numeric"]').locator("visible=true").first();
    if (await field.count()) await field.fill(String(1 + Math.floor(pick() * 3))).catch(() => {});
    return "a number";
  },
  async back(page) {
    await page.goBack({ timeout: 3000 }).catch(() => {});
    return "";
  },
  async forward(page) {
    await page.goForward({ timeout: 3000 }).catch(() => {});
    return "";
  },
  async reload(page) {
    await page.reload();
    return "";
  },
};

/** Takes `actions` random actions; every sixth does not wait for the one before. */
export async function walk(page, url, { seed, actions, say = () => {} }) {
  const pick = random(seed);
  // What each page opens with for somebody who asked for nothing.
  const examples = new Map();
  for (const path of ["benchmark", "profile", "inspect", "numerics", "matmult", "llm", "customop", "nki"]) {
    const fresh = await (await page.context().browser().newContext()).newPage();
    await openApp(fresh, `${url}#/${path}`);
    examples.set(`#/${path}`, (await assertOneSubject(fresh)).requests[0]);
    await fresh.context().close();
  }
  await openApp(page, url);
  const steps = [];
  for (let i = 0; i < actions; i++) {
    const name = among(Object.keys(ACTIONS), pick);
    steps.push(`${name} ${await ACTIONS[name](page, pick)}`);
    say(i, steps.at(-1));
    // Back may leave the site.
    if (!page.url().startsWith(url)) await openApp(page, url);
    if (pick() < 1 / 6) continue;
    await assertOneSubject(page, `seed ${seed}, action ${i}: ${steps.slice(-6).join("; ")}:`, examples);
  }
}
