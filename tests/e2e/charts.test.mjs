// Every chart answers to the mouse: the mark under the pointer, with its own value, and a press chooses that mark.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, chooseTool, eventually, waitForState } from "./support/app.mjs";
import { plots, pointAtEach } from "./support/charts.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces/", import.meta.url));
const BERT = "#/profile?v=1&model=bert-base-uncased&workflow=trace&instance=inf2.xlarge&tool=";
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const SWEEP = "#/benchmark?v=1&model=bert-base-uncased&instance=inf2.xlarge,inf2.24xlarge,trn1.2xlarge&batch_sizes=1,4,16&n_models=1,2&duration=2";
const named = (page, title) => page.locator("figure", { has: page.locator("figcaption", { hasText: title }) }).first();
// Charts come one after another.
const drawn = (page) => page.waitForFunction(() => [...document.querySelectorAll("figure.scatter > svg")].every((svg) => svg.childElementCount > 0));

for (const [size, viewport] of Object.entries(SIZES)) {
  const on = (hash) => ({ hash, context: { viewport } });

  for (const [name, hash, least] of [
    ["the benchmark", SWEEP, 6],
    ["one instance", "#/benchmark?v=1&model=nn&duration=2&n_models=1,2", 5],
    ["language models", "#/llm", 1],
    ["experiments", "#/experiments", 2],
  ]) {
    test(`${size}: each point of each chart of ${name} says its own value`, app.page(async (page) => {
      await page.waitForFunction(() => ["idle", "done"].includes(document.documentElement.dataset.state));
      await eventually(async () => assert.ok((await plots(page).count()) >= least));
      await drawn(page);
      let points = 0;
      for (const figure of await plots(page).all()) {
        if (await figure.isVisible()) points += await pointAtEach(page, figure);
      }
      assert.ok(points >= 4, `${points} points`);
    }, on(hash)));
  }

  test(`${size}: a press on a mark of the benchmark chooses its row, which is in sight`, app.page(async (page) => {
    await waitForState(page, "done");
    await drawn(page);
    const labels = (texts) => texts.map((text) => text.split(": Latency")[0]);
    const chosen = async (plot, isRight) => {
      const row = page.locator(".plots", { has: plot }).locator(".chosen-row");
      await eventually(async () => assert.ok(isRight(await row.locator("strong").innerText()), await row.innerText()));
      const box = await row.boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= viewport.height, `at ${box.y}`);
    };
    for (const title of ["Cost over latency", "Throughput over latency"]) {
      const plot = named(page, title);
      // Rings are what AWS published, and no rows.
      await pointAtEach(page, plot, (text, here) => (/PyTorch|TensorFlow/.test(text) ? undefined : chosen(plot, (row) => labels(here).some((label) => row.startsWith(`${label}, `)))));
    }
    const lines = named(page, "by batch size");
    await pointAtEach(page, lines, (text) => {
      const [, instance, batch, cost] = text.match(/^(.*): Batch size (\d+), US\$ per million inferences ([\d.]+)$/);
      return chosen(lines, (row) => row.startsWith(`${instance}: `) && row.includes(`, batch ${batch}, `) && Math.abs(row.match(/([\d.]+) US\$/)[1] / cost - 1) < 0.02);
    });
    for (const bar of await named(page, "Throughput by configuration").locator("li").all()) {
      const label = await bar.locator("button").innerText();
      // The row that was chosen before keeps to the foot of the window.
      await bar.evaluate((e) => e.scrollIntoView({ block: "center" }));
      const box = await bar.locator(".track").boundingBox();
      await page.mouse.click(box.x + 4, box.y + box.height / 2);
      await eventually(async () => assert.ok((await page.locator(".chosen-row strong").last().innerText()).startsWith(`${label}, `)));
    }
    assert.equal(await page.locator("#configuration option:checked").innerText().then((t) => t.includes("batch")), true);
  }, on(SWEEP)));

  test(`${size}: a press on a point of the experiments opens the records of its backend and run`, app.page(async (page) => {
    await page.getByText("Geometric mean of the speed-ups").first().waitFor();
    await drawn(page);
    const keys = { "XLA+Dynamo": "openxla+dynamo", "XLA+LazyTensor": "openxla+lazytensor" };
    await pointAtEach(page, plots(page).filter({ hasText: /^Geometric mean of the speed-ups/ }).first(), async (text) => {
      const [, backend, at] = text.match(/^(.*): Run \(UTC\) ([\d-]+ [\d:]+),/);
      const heading = page.getByText(/^Records with/).first();
      await eventually(async () => assert.equal(await heading.innerText(), `Records with ${keys[backend] ?? backend} in the run of ${at}`));
      await page.waitForFunction(() => location.hash.includes("open="));
      await page.evaluate(() => { location.hash = "#/experiments?v=1&data=sample"; });
      await heading.waitFor({ state: "detached" });
      await drawn(page);
    });
  }, on("#/experiments")));

  test(`${size}: the roofline, the lanes and the pies answer for the mark under the pointer`, app.page(async (page) => {
    await waitForState(page, "done");
    const roof = page.locator("figure.roofline");
    await roof.locator(".mark").first().waitFor();
    assert.ok(await pointAtEach(page, roof) > 3);
    for (const lane of await page.locator("figure.lanes li").all()) {
      const svg = lane.locator("svg");
      await svg.evaluate((e) => e.scrollIntoView({ block: "center" }));
      const box = await svg.boundingBox();
      await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2);
      const said = await page.locator("figure.lanes .readout").innerText();
      const [name, end] = [await lane.locator(".name").innerText(), await page.locator(".lanes-axis span").last().innerText()];
      assert.ok(said.startsWith(`${name}: `) && said.endsWith(` to ${end}`), `${said}, of ${name} until ${end}`);
    }
    await chooseTool(page, "operator-hlo");
    const pie = page.locator("figure.pie").first();
    await pie.locator("path").first().waitFor();
    await pie.evaluate((e) => e.scrollIntoView({ block: "center" }));
    const slices = await pie.locator("path").evaluateAll((all) => all.map((path) => {
      // A place inside: from the middle of the outer arc towards the centre.
      const end = path.getTotalLength();
      const at = path.getPointAtLength(end / 2);
      const place = new DOMPoint(at.x * 0.9, at.y * 0.9).matrixTransform(path.getScreenCTM());
      return { x: place.x, y: place.y };
    }));
    for (const [i, { x, y }] of slices.entries()) {
      await page.mouse.move(x, y);
      await eventually(async () => assert.deepEqual(await pie.locator(".legend li:not(.is-dimmed)").evaluateAll((all) => all.map((li) => [...li.parentNode.children].indexOf(li))), [i]));
    }
    // Neighbours look different.
    const fills = await pie.locator("path").evaluateAll((all) => all.map((path) => path.getAttribute("style")));
    assert.ok(fills.every((fill, i) => fill !== fills[(i + 1) % fills.length]), `${fills}`);
  }, on(`${BERT}summary`)));
}

test("counters and histograms answer for the step under the pointer", app.page(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}catapult_simple_trace.json`);
  await waitForState(page, "done");
  await chooseTool(page, "counters");
  await plots(page).first().waitFor();
  await drawn(page);
  for (const figure of await plots(page).all()) await pointAtEach(page, figure);
}, { hash: "#/profile?v=1" }));
