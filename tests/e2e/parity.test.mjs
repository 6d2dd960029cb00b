// One core, two shells: the page's downloads are the bytes that the command line prints.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appFixture, download, editForm, editRun, menuEntry, waitForState } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });

function commandLine(args) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  return execFileSync(process.env.NEURONSCOPE_CLI, args, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}

const BENCHMARKS = [
  ["the untouched form", "#/benchmark?v=1", ["--model", "nn"]],
  ["another seed and duration", "#/benchmark?v=1&model=nn&duration=3&seed=7", ["--model", "nn", "--duration", "3", "--seed", "7"]],
  [
    "a model with parameters",
    "#/benchmark?v=1&model=matmult:n=256,loop_count=20&n_models=1,2&duration=5",
    ["--model", "matmult:n=256,loop_count=20", "--n-models", "1,2", "--duration", "5"],
  ],
  [
    "batches on a large instance",
    "#/benchmark?v=1&model=mlp:hidden1=512,hidden2=256&instance=trn1.32xlarge&batch_sizes=1,8&duration=2",
    ["--model", "mlp:hidden1=512,hidden2=256", "--instance", "trn1.32xlarge", "--batch-sizes", "1,8", "--duration", "2"],
  ],
  [
    "several casts and levels in one sweep",
    "#/benchmark?v=1&model=matmult:n=256,loop_count=4&auto_cast=none,matmult,all&auto_cast_type=bf16,fp8_e4m3&optlevel=1,2&n_models=1&workers_per_model=1&duration=2",
    ["--model", "matmult:n=256,loop_count=4", "--auto-cast", "none,matmult,all", "--auto-cast-type", "bf16,fp8_e4m3", "-O", "1,2", "--n-models", "1", "--workers-per-model", "1", "--duration", "2"],
  ],
  [
    "two physical cores as one",
    "#/benchmark?v=1&model=nn&instance=trn2.48xlarge&auto_cast=all&lnc=2&n_models=1,64&workers_per_model=1&duration=2",
    ["--model", "nn", "--instance", "trn2.48xlarge", "--auto-cast", "all", "--lnc", "2", "--n-models", "1,64", "--workers-per-model", "1", "--duration", "2"],
  ],
  [
    "rows that fail beside rows that run",
    "#/benchmark?v=1&model=nn&instance=inf2.xlarge&n_models=1,5&workers_per_model=1,3&duration=2",
    ["--model", "nn", "--instance", "inf2.xlarge", "--n-models", "1,5", "--workers-per-model", "1,3", "--duration", "2"],
  ],
];

for (const [name, hash, args] of BENCHMARKS) {
  test(`benchmark: ${name}`, app.page(async (page) => {
    // A link with fields runs by itself; an unchanged form waits.
    if (!hash.includes("&")) await button(page, "Run").click();
    await waitForState(page, "done");
    const { bytes } = await download(page, await menuEntry(page, "Download JSON"));
    const printed = commandLine(["bench", ...args, "--json"]);
    assert.ok(printed.length > 1000);
    assert.deepEqual(bytes.toString(), printed.toString());
  }, { hash }));
}

test("profile: compiler options of the form are the command line's flags", app.page(async (page) => {
  await waitForState(page, "done");
  await editRun(page);
  await editForm(page);
  await page.locator("form.spec summary").click();
  await page.getByLabel("Auto-cast").selectOption("all");
  await page.getByLabel("Cast type").selectOption("fp8_e4m3");
  await page.getByLabel("Optimisation level").selectOption("1");
  await button(page, "Run").click();
  await page.waitForFunction(() => /auto_cast=all&auto_cast_type=fp8_e4m3&optlevel=1/.test(location.hash));
  await waitForState(page, "done");
  const { bytes } = await download(page, await menuEntry(page, "Download JSON"));
  const flags = ["--auto-cast", "all", "--auto-cast-type", "fp8_e4m3", "-O", "1"];
  const printed = commandLine(["profile", "--model", "matmult:n=256,loop_count=8", ...flags, "--json"]).toString();
  assert.deepEqual(bytes.toString(), printed);
  assert.notEqual(printed, commandLine(["profile", "--model", "matmult:n=256,loop_count=8", "--json"]).toString());
}, { hash: "#/profile?v=1&model=matmult:n=256,loop_count=8&tool=operator-hlo" }));

for (const workflow of ["mark_step", "trace"]) {
  const hash = (tool) => ({ hash: `#/profile?v=1&model=nn&workflow=${workflow}&tool=${tool}` });
  const args = ["profile", "--model", "nn", "--workflow", workflow];
  const downloaded = async (page) => {
    await waitForState(page, "done");
    return (await download(page, await menuEntry(page, "Download JSON"))).bytes;
  };

  test(`operators: nn, ${workflow}`, app.page(async (page) => {
    const bytes = await downloaded(page);
    assert.deepEqual(bytes.toString(), commandLine([...args, "--json"]).toString());
  }, hash("operator-hlo")));

  test(`timeline: nn, ${workflow}`, app.page(async (page) => {
    const bytes = await downloaded(page);
    const folder = mkdtempSync(join(tmpdir(), "neuronscope-"));
    try {
      const file = join(folder, "nn.json");
      commandLine([...args, "--output", file]);
      const written = readFileSync(file);
      assert.ok(written.length > 1000);
      assert.ok(bytes.equals(written), "the page's timeline differs from the command line's");
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, hash("operator-timeline")));
}
