// The benchmark page helps to decide: limits, the Pareto front, the link to the profile, results of another form, saved results.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, editForm, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const results = (page) => page.getByRole("table", { name: "Benchmark results" });
const SHORT = "#/benchmark?v=1&duration=2";

// The link runs by itself.
const run = (page) => waitForState(page, "done");

test("limits choose the row, the mark and the figures", app.page(async (page) => {
  await run(page);
  const finder = page.getByRole("region", { name: "Find the best" });
  const best = results(page).locator("tr.is-best");
  const rate = (row) => row.locator("td:nth-child(6)").getAttribute("data-value").then(Number);
  const most = Math.max(...await results(page).locator("tbody tr td:nth-child(6)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value))));
  assert.equal(await rate(best), most);
  assert.equal(await page.locator(".scatter .chosen").first().isVisible(), true);
  await page.getByLabel("Cores at most").fill("1");
  await finder.getByText(/2 of 4 are within the limits/).waitFor();
  await page.waitForFunction(() => location.hash.includes("cores_at_most=1"));
  assert.ok((await rate(best)) < most);
  assert.match(await page.locator(".tiles .tile").first().innerText(), /1 model,/);
  await page.getByLabel("p99 at most (ms)").fill("0.000001");
  await finder.getByText("None of 4 finished configurations is within these limits.").waitFor();
  assert.equal(await best.count(), 0);
  await page.getByLabel("p99 at most (ms)").fill("soon");
  await finder.getByText(/'soon' is not a positive number/).waitFor();
  await assertAccessible(page);
}, { hash: SHORT }));

test("the filter takes heads of columns and applies to figures and plots", app.page(async (page) => {
  await run(page);
  assert.ok((await results(page).locator("td", { hasText: /^front$/ }).count()) >= 1);
  await page.getByLabel("Filter Benchmark results").fill("models=1");
  await page.getByText("2 of 4 rows match.").waitFor();
  assert.equal(await page.locator(".bars li").count(), 2);
  assert.match(await page.locator(".tiles .tile").first().innerText(), /1 model,/);
}, { hash: SHORT }));

test("results of another form say so, and a row leads to its profile", app.page(async (page) => {
  await run(page);
  await editForm(page);
  await page.getByLabel("Seed", { exact: true }).fill("5");
  await page.getByText(/The form has changed/).waitFor();
  await assertAccessible(page);
  await editForm(page);
  await page.getByLabel("Seed", { exact: true }).fill("0");
  await page.getByText(/The form has changed/).waitFor({ state: "detached" });
  await results(page).getByRole("link", { name: "Profile this" }).first().click();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
}, { hash: SHORT }));

test("finished results are shown again after a reload", app.page(async (page, url) => {
  await run(page);
  await page.reload();
  await openApp(page, url + SHORT);
  await page.getByText(/Saved; shown below/).waitFor();
  await waitForState(page, "done");
  assert.equal(await results(page).locator("tbody tr").count(), 4);
}, { hash: SHORT }));

test("on a phone the table begins with what tells its rows apart", app.page(async (page) => {
  await run(page);
  const titles = await results(page).locator("thead th").allInnerTexts();
  assert.deepEqual(titles.slice(0, 3).map((title) => title.replace(/[^A-Za-z/ ()]/g, "").trim()), ["Models", "Workers/model", "Throughput avg (inf/s)"]);
}, { hash: SHORT, context: { viewport: { width: 390, height: 844 } } }));

for (const [name, viewport] of [["desk", { width: 1440, height: 900 }], ["phone", { width: 390, height: 844 }]]) {
  test(`${name}: the form is a drawer behind its bar, and the first figures and rows are in the first screen`, app.page(async (page) => {
    await run(page);
    const seed = page.getByLabel("Seed", { exact: true });
    const edit = page.getByRole("button", { name: "Edit", exact: true });
    assert.equal(await page.locator(".form-bar .what").innerText(), "nn \u00b7 trn1.2xlarge \u00b7 batch 1");
    assert.equal(await seed.isVisible(), false);
    const end = async (selector) => {
      const { y, height } = await page.locator(selector).first().boundingBox();
      return y + height;
    };
    assert.ok((await end(".tiles .tile")) < viewport.height);
    assert.ok(Math.min(await end(".plots svg"), await end(".results-table tbody tr")) < 900);
    assert.ok((await page.locator(".form-bar").boundingBox()).height <= 100);
    await assertAccessible(page);
    await edit.click();
    assert.equal(await edit.getAttribute("aria-expanded"), "true");
    await assertAccessible(page);
    await seed.focus();
    await page.keyboard.press("Escape");
    assert.equal(await seed.isVisible(), false);
    assert.equal(await edit.evaluate((e) => e === document.activeElement), true);
    await edit.click();
    await seed.fill("-1");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    // A mistake keeps the fields in sight.
    assert.equal(await seed.isVisible(), true);
    await seed.fill("5");
    await page.getByText("The form has changed").waitFor();
    await page.keyboard.press("Enter");
    await waitForState(page, "done");
    await seed.waitFor({ state: "hidden" });
  }, { hash: SHORT, context: { viewport } }));
}
