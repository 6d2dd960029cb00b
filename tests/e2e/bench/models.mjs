// Measures how soon a model file shows its first result in a browser: opened in Inspect, and opened in Benchmark, whose card has the
// cheapest instance of all.
// It prints numbers and asserts nothing. Each file is opened by a new page; the reader of model files is in the browser's cache.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { serve } from "../../../tools/serve.mjs";
import { BASE, DIST, launch, openApp, waitForState } from "../support/app.mjs";

const MODELS = fileURLToPath(new URL("../../it/fixtures/models/", import.meta.url));
const LIMIT_MS = 120_000;
const REPEATS = 3;

const packed = (path) => gunzipSync(readFileSync(`${MODELS}${path}.gz`));

/** HLO text of blocks with four modules each: a norm's scale, two products and an activation. */
function manyModules(blocks) {
  const scope = (i, module, op) => `metadata={op_type="${op}" op_name="Net[model]/Block[block${i}]/${module}/${op}"}`;
  const lines = ["  h0 = f32[16,256] parameter(0)", "  w = f32[256,256] parameter(1)", "  s = f32[256] parameter(2)"];
  for (let i = 0; i < blocks; i += 1) {
    lines.push(
      `  s${i} = f32[16,256] broadcast(s), dimensions={1}, ${scope(i, "Scale[norm]", "aten__mul")}`,
      `  n${i} = f32[16,256] multiply(h${i}, s${i}), ${scope(i, "Scale[norm]", "aten__mul")}`,
      `  a${i} = f32[16,256] dot(n${i}, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, ${scope(i, "Linear[fc1]", "aten__addmm")}`,
      `  t${i} = f32[16,256] tanh(a${i}), ${scope(i, "Tanh[act]", "aten__tanh")}`,
      `  h${i + 1} = f32[16,256] dot(t${i}, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, ${scope(i, "Linear[fc2]", "aten__addmm")}`,
    );
  }
  lines[lines.length - 1] = lines.at(-1).replace("  h", "  ROOT h");
  return Buffer.from(`HloModule many\n\nENTRY main {\n${lines.join("\n")}\n}\n`);
}

const FILES = [
  { name: "bert.onnx", buffer: packed("onnx/bert-base-b1-s128--torch2.9.1.onnx") },
  { name: "resnet50.pt2", buffer: packed("pt2/resnet50-b1--torch2.15.0.pt2") },
  { name: "resnet50.onnx", buffer: packed("onnx/resnet50-b1--torch2.9.1-onnx-legacy.onnx") },
  { name: "1000-modules.hlo.txt", buffer: manyModules(250) },
];

/** Milliseconds from the choice of a file to a state of the page. */
async function opened(page, file, reached) {
  const begin = performance.now();
  await page.locator("#open-file").setInputFiles({ ...file, mimeType: "application/octet-stream" });
  await reached();
  return performance.now() - begin;
}

async function inspected(page, url, file) {
  await openApp(page, `${url}#/inspect?model=nn`);
  await waitForState(page, "done");
  return opened(page, file, async () => {
    await page.locator(".form-bar .what", { hasText: file.name }).waitFor();
    await waitForState(page, "done", { timeout: LIMIT_MS });
  });
}

async function benchmarked(page, url, file) {
  await openApp(page, `${url}#/benchmark`);
  await waitForState(page, "done");
  return opened(page, file, () => page.locator(".model-card .found", { hasText: "Lowest cost" }).waitFor());
}

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const server = await serve({ dir: DIST, base: BASE });
const browser = await launch();
try {
  const context = await browser.newContext();
  for (const file of FILES) {
    const found = { inspect: [], benchmark: [] };
    for (let i = 0; i < REPEATS; i += 1) {
      for (const [what, measure] of [["inspect", inspected], ["benchmark", benchmarked]]) {
        const page = await context.newPage();
        page.setDefaultTimeout(LIMIT_MS);
        found[what].push(await measure(page, server.url, file));
        await page.close();
      }
    }
    const size = (file.buffer.length / 2 ** 20).toFixed(2);
    const [inspect, benchmark] = [found.inspect, found.benchmark].map((all) => `${middle(all).toFixed(0)} ms`);
    console.log(`  ${file.name} (${size} MiB): inspected after ${inspect}, its card over all instances after ${benchmark}`);
  }
} finally {
  await browser.close();
  await server.close();
}
