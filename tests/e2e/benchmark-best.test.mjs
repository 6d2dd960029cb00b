// The benchmark page helps to decide: limits, the Pareto front, the link to the profile, results of another form, saved results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, editForm, eventually, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const results = (page) => page.getByRole("table", { name: "Benchmark results" });
const SHORT = "#/benchmark?v=1&duration=2";

// The link runs by itself.
const run = (page) => waitForState(page, "done");

test("limits choose the row, the mark and the figures", app.page(async (page) => {
  await run(page);
  const finder = page.getByRole("region", { name: "Find the best" });
  const best = results(page).locator("tr.is-best");
  const rate = (row) => row.locator("td:nth-child(3)").getAttribute("data-value").then(Number);
  const most = Math.max(...await results(page).locator("tbody tr td:nth-child(3)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value))));
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
  assert.ok((await results(page).locator("td", { hasText: /^(cost, )?throughput$/ }).count()) >= 1);
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

test("the page opens with an example of two instances, which makes room for results of a file", app.page(async (page) => {
  await waitForState(page, "done");
  assert.match(await page.locator(".form-bar .what").innerText(), /^bert-base-uncased \u00b7 inf2\.xlarge \+ trn1\.2xlarge/);
  assert.ok((await results(page).locator("tbody tr").count()) >= 12);
  const figure = (name) => page.locator("figure", { has: page.locator("figcaption", { hasText: name }) });
  await figure("US$ per million inferences by batch size").waitFor();
  // AWS published some of these rows.
  await figure("Cost over latency").getByText("Published by AWS").waitFor();
  assert.equal(await page.locator(".scatter .limit").count(), 0);
  await page.getByLabel("p99 at most (ms)").fill("12");
  await page.locator(".scatter .limit").waitFor({ state: "attached" });
  // A click on a mark chooses its row, from which its profile is one click away.
  const cost = figure("Cost over latency").locator("svg[tabindex]");
  await cost.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.locator("tr.is-best").waitFor();
  await page.getByRole("link", { name: "Profile it" }).first().waitFor();
  await assertAccessible(page);
  const csv =
    "model_name,n_models,workers_per_model,pipeline_size,batch_size,throughput_avg,throughput_peak,latency_ms_p0,latency_ms_p50,latency_ms_p90,latency_ms_p95,latency_ms_p99,latency_ms_p100\n" +
    "bert,1,1,1,1,307.25,308,3.1,3.251,3.26,3.27,3.277,4\n";
  await page.locator("#open-file").setInputFiles({ name: "own.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByText(/1 row was imported from own\.csv/).waitFor();
  assert.equal(await results(page).locator("tbody tr").count(), 1);
}, { hash: "#/benchmark", context: { viewport: { width: 1440, height: 900 } } }));

test("instances are chosen from a list with their price, by keyboard", app.page(async (page) => {
  await editForm(page);
  const field = page.getByLabel("Instance types", { exact: true });
  await field.click();
  await page.getByRole("option", { name: /inf2\.xlarge 2 cores, 16 GiB, \$0\.7582\/h/ }).waitFor();
  await assertAccessible(page);
  await field.fill("inf2 24");
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "trn1.2xlarge,inf2.24xlarge");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => /instance=trn1\.2xlarge,inf2\.24xlarge/.test(location.hash));
  await page.getByText(/8 configurations/).waitFor();
}));

test("a call of NeuronPerf fills the form", app.page(async (page) => {
  await editForm(page);
  await page.getByText("Paste a call of NeuronPerf").click();
  await page.getByLabel("Call, or the script with it").fill("r = npf.torch.benchmark(model, inputs, n_models=[1, 2], workers_per_model=1, duration=3)");
  await page.getByRole("button", { name: "Fill the form" }).click();
  await page.getByText(/n_models, workers_per_model, duration is in the form now/).waitFor();
  assert.equal(await page.getByLabel("Duration (s)").inputValue(), "3");
  await page.getByText(/2 configurations/).waitFor();
}));

test("a link to a file that is not here shows where to drop it, and runs when it comes", app.page(async (page, url) => {
  const buffer = readFileSync(fileURLToPath(new URL("../it/fixtures/models/hlo/nn-442--torchxla2.9.0.hlo.txt", import.meta.url)));
  const file = { name: "nn.hlo.txt", mimeType: "text/plain", buffer };
  await page.locator("#open-file").setInputFiles(file);
  await waitForState(page, "done");
  // A file is run with what it takes, on every instance with a price: its graph says what other batch sizes are.
  const card = page.locator(".model-card");
  await card.getByText(/[\d,]+ parameters, /).waitFor();
  await eventually(async () => assert.equal(await results(page).locator("tbody tr").count(), 98));
  await waitForState(page, "done");
  await page.locator(".limiter").getByText(/is busy longest|Units wait for one another/).waitFor();
  const link = (await page.evaluate(() => location.hash)).replace(/&model_file=[^&]*/, "").replace(/&instance=[^&]*/, "&instance=inf2.xlarge");
  const other = await (await page.context().browser().newContext()).newPage();
  await openApp(other, url + link);
  await other.getByRole("heading", { name: "Drop nn.hlo.txt here" }).waitFor();
  await assertAccessible(other);
  await other.locator("#missing-file").setInputFiles(file);
  await waitForState(other, "done");
  await other.locator(".model-card").getByText(/It runs/).waitFor();
  await other.context().close();
}, { hash: "#/benchmark?v=1&duration=1" }));
