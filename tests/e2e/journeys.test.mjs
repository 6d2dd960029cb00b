// What people come for, from the first page to the answer, with the number of things that they do on the way.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, assertAccessible, copyMenu, eventually, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const FIXTURES = fileURLToPath(new URL("../it/fixtures", import.meta.url));
const file = (path) => readFileSync(`${FIXTURES}/${path}`);
const context = { viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] };

/** Somebody on a page: each click, each text and each file counts. */
class Person {
  actions = 0;
  constructor(page) {
    this.page = page;
  }
  async click(locator) {
    this.actions += 1;
    await locator.click();
  }
  async type(locator, text) {
    this.actions += 1;
    await locator.fill(text);
  }
  async drop(name, buffer) {
    this.actions += 1;
    await this.page.locator("#open-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
  }
}

/** A test of a journey that takes `actions` from the address `hash`. */
const journey = (name, actions, hash, body) =>
  test(`${name}: ${actions}`, app.page(async (page, url) => {
    const person = new Person(page);
    await body(person, page, url);
    assert.equal(person.actions, actions, "actions");
    await assertAccessible(page);
  }, { hash, context }));

/** Whether an element begins in the first screen. */
async function isInFirstScreen(locator) {
  await locator.first().waitFor();
  const { y } = await locator.first().boundingBox();
  assert.ok(y < 900, `it begins at ${y} px`);
}

journey("a first visitor knows what the page is about, and sees a figure and its reason", 1, "", async (person, page) => {
  await page.getByText(/Inferentia/).first().waitFor();
  await page.getByText(/Trainium/).first().waitFor();
  await person.click(page.getByRole("link", { name: "Profile BERT" }));
  await isInFirstScreen(page.getByText("Device window", { exact: true }));
  await isInFirstScreen(page.getByText(/limits the execution/));
});

const BERT = "models/onnx/bert-base-b1-s128--torch2.9.1.onnx.gz";

journey("an own model: how fast, what limits it, the cheapest under a limit, and a link that a colleague opens", 4, "", async (person, page, url) => {
  await person.drop("bert.onnx", gunzipSync(file(BERT)));
  const card = page.locator(".model-card");
  await card.getByText(/It runs on every instance and with every batch size/).waitFor();
  await isInFirstScreen(page.locator(".limiter").getByText(/is busy longest|Units wait/));
  await waitForState(page, "done");
  await person.type(page.getByLabel("p99 at most (ms)"), "20");
  await page.waitForFunction(() => location.hash.includes("p99"));
  await settledAddress(page);
  const found = await card.locator(".found").innerText();
  assert.match(found, /^Lowest cost: inf2\.xlarge/);
  person.actions += 2;
  const menu = await copyMenu(page);
  await menu.locator('[data-copy="link"]').first().click();
  await page.locator(".notice").filter({ hasText: /is in the clipboard/ }).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());

  // A colleague's browser has neither the file nor the results. The same answer is there at once, the profile one click away.
  const other = await (await page.context().browser().newContext()).newPage();
  await openApp(other, link);
  await waitForState(other, "done");
  await eventually(async () => assert.equal(await other.locator(".model-card .found").innerText(), found));
  await other.locator(".model-card").getByRole("link", { name: "What limits it" }).click();
  await other.getByText(/limits the execution/).first().waitFor();
  await other.context().close();
  assert.ok(link.startsWith(url), link.slice(0, 80));
});

journey("a tuner compares two instances and opens the profile of a row", 1, "#/benchmark", async (person, page) => {
  await waitForState(page, "done");
  const rows = page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr");
  assert.ok((await rows.count()) >= 12);
  await isInFirstScreen(page.locator(".scatter"));
  await person.click(rows.first().getByRole("link", { name: "Profile this" }));
  await page.getByText(/limits the execution/).first().waitFor();
});

journey("somebody with a trace of PyTorch drops it and reads what to look at first", 1, "", async (person, page) => {
  const trace = gunzipSync(file("traces/kineto_resnet50_workers0_a.json.gz"));
  await person.drop("trace.json", trace);
  await isInFirstScreen(page.getByRole("heading", { name: "What to look at first" }));
});

journey("somebody from the plugin finds the table of operators", 1, "#/profile?v=1&model=nn", async (person, page) => {
  await waitForState(page, "done");
  await person.click(page.locator('#rail-tools [data-tool="operator-framework"]'));
  const row = page.locator(".data-table tbody tr").filter({ hasText: "aten__addmm" });
  await isInFirstScreen(row);
});

journey("an author of a kernel changes a line and sees what it costs", 1, "#/customop", async (person, page) => {
  await waitForState(page, "done");
  const source = page.locator("#customop-source");
  await isInFirstScreen(page.locator(".tiles .tile"));
  const before = await source.inputValue();
  await person.type(source, before.replace("in[row][column] : 0.0;", "in[row][column] : 1.0;"));
  assert.notEqual(await source.inputValue(), before);
  await page.getByText("off by 1").first().waitFor();
  await isInFirstScreen(page.locator(".tiles .tile"));
});

journey("the microbenchmark of the guide", 1, "", async (person, page) => {
  await person.click(page.getByRole("link", { name: "Microbenchmark" }).first());
  await waitForState(page, "done");
  await isInFirstScreen(page.getByText(/TFLOPS/));
});

journey("somebody who leads reads what a run changed", 1, "#/experiments", async (person, page) => {
  await person.drop("results.jsonl", file("xla/upstream/inputs/v100.jsonl"));
  await waitForState(page, "done");
  await isInFirstScreen(page.locator(".tiles .tile").filter({ hasText: "Passed" }));
});
