// Nothing jumps while a page loads and its results arrive: checks the sum of the browser's layout shifts, as in web vitals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, waitForState } from "../support/app.mjs";
import { BERT_FILE, dropsModel } from "../support/views.mjs";

const app = appFixture();
/** A fifth of the limit that web vitals call good. */
const MOST = 0.02;
const WINDOWS = { desk: { width: 1350, height: 940 }, phone: { width: 412, height: 823 } };
const PAGES = {
  start: { hash: "#/", ends: "idle" },
  benchmark: { hash: "#/benchmark?v=1&model=nn&duration=1", ends: "done" },
  "empty benchmark": { hash: "#/benchmark?v=1", ends: "idle" },
  "example of benchmarks": { hash: "#/benchmark", ends: "done" },
  "example of profiles": { hash: "#/profile", ends: "done" },
  inspect: { hash: "#/inspect", ends: "done" },
  LLMs: { hash: "#/llm", ends: "done" },
  numerics: { hash: "#/numerics", ends: "done" },
  microbenchmark: { hash: "#/matmult", ends: "done" },
  "custom operators": { hash: "#/customop", ends: "done" },
  experiments: { hash: "#/experiments", ends: "done" },
  guide: { hash: "#/guide", ends: "idle" },
  profile: { hash: "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=overview", ends: "done" },
};

// In the page, before its own scripts.
function watch() {
  const name = (node) => (node?.nodeType === 1 ? `${node.tagName.toLowerCase()}.${node.className?.baseVal ?? node.className}` : "text");
  window.shifts = [];
  const take = (list) => list.getEntries().forEach((e) => {
    if (!e.hadRecentInput) window.shifts.push({ value: e.value, what: e.sources.map((s) => `${name(s.node)} ${s.previousRect.y} to ${s.currentRect.y}`) });
  });
  new PerformanceObserver(take).observe({ type: "layout-shift", buffered: true });
}

/** Checks the sum of the shifts until now, and forgets them. */
async function assertStill(page, name) {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const shifts = await page.evaluate(() => window.shifts.splice(0));
  const sum = shifts.reduce((all, shift) => all + shift.value, 0);
  const largest = shifts.filter((s) => s.value > 0.005).map((s) => `${s.value.toFixed(3)}: ${s.what.join(", ")}`);
  if (process.env.NEURONSCOPE_SAY_SHIFTS) console.log(`${name}: ${sum.toFixed(4)}\n  ${largest.join("\n  ")}`);
  assert.ok(sum < MOST, `${sum.toFixed(3)}:\n${largest.join("\n")}`);
}

for (const [device, viewport] of Object.entries(WINDOWS)) {
  const on = (hash) => ({ hash, context: { viewport }, init: watch });
  for (const [name, { hash, ends }] of Object.entries(PAGES)) {
    test(`nothing jumps: ${name}, ${device}`, app.page(async (page) => {
      await waitForState(page, ends);
      if (name === "empty benchmark") await page.getByRole("table", { name: "Configurations" }).waitFor();
      await assertStill(page, `${name}, ${device}`);
    }, on(hash)));
  }

  for (const [from, hash] of [["the start page", "#/"], ["the example", "#/benchmark"]]) {
    test(`nothing jumps: a model is dropped on ${from}, ${device}`, app.page(async (page) => {
      await waitForState(page, hash === "#/" ? "idle" : "done");
      await page.evaluate(() => window.shifts.splice(0));
      await dropsModel(BERT_FILE)(page);
      await assertStill(page, `dropped on ${from}, ${device}`);
    }, on(hash)));
  }

  test(`nothing jumps: results are filtered, ${device}`, app.page(async (page) => {
    await waitForState(page, "done");
    await page.evaluate(() => window.shifts.splice(0));
    await page.getByLabel("Filter Benchmark results").fill("models=2");
    await page.waitForFunction(() => location.hash.includes("filter="));
    await assertStill(page, `filter, ${device}`);
  }, on("#/benchmark?v=1&model=nn&duration=2&n_models=1,2&workers_per_model=1,2")));
}
