// The first result of each page lies in the first screen: above 900 px on a desk of 1440 x 900.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, waitForState } from "./support/app.mjs";

const app = appFixture();
const RUN = "v=1&model=bert-base-uncased&workflow=trace&instance=inf2.xlarge";

/** Addresses, the first result of each, and the pixel by which it begins. */
const PAGES = [
  ["operators have their table first", `#/profile?${RUN}&tool=operator-framework`, ".data-table tbody tr", 400],
  ["a timeline has its slices first", `#/profile?${RUN}&tool=operator-timeline`, "canvas", 400],
  ["a flame graph fills the view", `#/profile?${RUN}&tool=flame-graph`, ".flame button", 400],
  ["metrics begin with what matters", `#/profile?${RUN}&tool=summary`, ".workspace-view :is(.panel, .tiles)", 400],
  ["the graph of a model is the page", "#/inspect?model=bert-base-uncased", ".model-frame svg", 400],
  ["the microbenchmark has its figures first", "#/matmult?v=1&sizes=256", ".tiles .tile", 500],
  ["a kernel has its figures beside its source", "#/customop?v=1&kernel=relu-tcm&layers=16,64,10&batch=4", ".tiles .tile", 500],
  ["a language model has its figures first", "#/llm", ".tiles .tile", 500],
  ["experiments begin with what passed", "#/experiments", ".tiles .tile", 500],
];

for (const [name, hash, selector, within] of PAGES) {
  test(name, app.page(async (page) => {
    await waitForState(page, "done");
    const first = page.locator(selector).first();
    await first.waitFor();
    const { y } = await first.boundingBox();
    assert.ok(y < within && within < 900, `it begins at ${y} px, not above ${within}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollLeft + document.documentElement.scrollTop), 0);
    await assertAccessible(page);
  }, { hash, context: { viewport: { width: 1440, height: 900 } } }));
}

test("the picture of a model has most of the window, and blocks that are alike are one", app.page(async (page) => {
  await waitForState(page, "done");
  const frame = await page.locator(".model-frame").boundingBox();
  assert.ok(frame.height > 900 * 0.55, `${frame.height} px`);
  await page.getByRole("tree").getByText("12 \u00d7 BertLayer").waitFor();
  // Times are whole: the tree cuts names, not them.
  const cut = await page.locator(".tree-row .time").evaluateAll((times) => times.filter((t) => t.scrollWidth > t.clientWidth + 1).length);
  assert.equal(cut, 0);
}, { hash: "#/inspect?model=bert-base-uncased", context: { viewport: { width: 1440, height: 900 } } }));
