// The summary tool of the profile page: findings, bounds, roofline, utilisation, metrics.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, download, menuEntry, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const CLI = process.env.NEURONSCOPE_CLI ?? fileURLToPath(new URL("../../target/release/neuronscope", import.meta.url));
const button = (page, name) => page.getByRole("button", { name, exact: true });
const summary = (body, options) => app.page(body, { hash: "#/profile?tool=summary", ...options });

async function run(page) {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await page.getByRole("heading", { name: "Findings", exact: true }).waitFor();
}

test("the metrics of a run are those the command line prints", { skip: existsSync(CLI) ? false : "the command line is not built" }, summary(async (page) => {
  await run(page);
  const expected = JSON.parse(execFileSync(CLI, ["profile", "--model", "nn", "--summary", "--json"], { encoding: "utf8" }));
  const rows = page.getByRole("table", { name: "Metrics" }).locator("tbody tr");
  const shown = Object.fromEntries(await rows.evaluateAll((all) => all.map((tr) => [tr.cells[0].innerText.trim(), Number(tr.cells[3].dataset.value)])));
  for (const [name, value] of Object.entries(expected)) if (typeof value === "number") assert.equal(shown[name], value, name);
  assert.ok(Object.keys(shown).length >= 50);
  const saved = await download(page, await menuEntry(page, "Download JSON"));
  assert.deepEqual(JSON.parse(saved.bytes.toString()), expected);
}));

test("metrics that are opened alone say which limit is simulated", summary(async (page) => {
  await page.evaluate(() => {
    window.said = new Set();
    const look = () => document.querySelectorAll("[aria-label=Metrics] [role=status]").forEach((status) => window.said.add(status.textContent));
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.getByRole("table", { name: "Limits" }).getByText("Tensor engine", { exact: true }).waitFor({ timeout: 60_000 });
  const said = await page.evaluate(() => [...window.said]);
  assert.ok(said.some((text) => /^Simulates without: [\w ]+, \d+ of 11…$/.test(text)), said.join("; "));
}, { hash: "#/profile?v=1&model=bert-base-uncased&batch_size=8&instance=trn2.48xlarge&tool=summary" }));

test("metrics are searched, sorted and saved as CSV", summary(async (page) => {
  await run(page);
  const rows = page.getByRole("table", { name: "Metrics" }).locator("tbody tr");
  await page.getByLabel("Search Metrics").fill("spill");
  await page.waitForFunction(() => document.querySelectorAll("[aria-label='Metrics, scrollable'] tbody tr").length === 2);
  assert.deepEqual(await rows.locator("th").allInnerTexts(), ["spill_save_bytes", "spill_reload_bytes"]);
  const saved = await download(page, button(page, "Download Metrics as CSV"));
  assert.equal(saved.name, "metrics.csv");
  assert.match(saved.bytes.toString(), /^metric,group,text,value,unit\ntotal_time,Time,/);
}));

test("a finding leads to the slice that shows it, by keyboard", summary(async (page) => {
  await run(page);
  assert.match(await page.locator(".finding[data-rule=limiting_unit]").innerText(), /Bound by launch: without this limit/);
  const finding = page.locator(".finding[data-rule=inputs_in_step]");
  await finding.locator("summary").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const link = page.locator(":focus");
  const [, row, start, duration] = /^(\S+) at ([\d,]+) ns, ([\d,]+) ns$/.exec(await link.innerText());
  await page.keyboard.press("Enter");
  const details = page.getByRole("region", { name: "Selected slice" });
  await details.getByText("Wall duration").waitFor();
  const text = await details.innerText();
  assert.ok(text.includes(row) && text.includes(`${start} ns`) && text.includes(`${duration} ns`), text);
  // Zoomed to it: nine times its length.
  await page.waitForURL(/from=\d+&to=\d+/);
  const query = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
  const length = Number(duration.replaceAll(",", ""));
  assert.ok(Math.abs(Number(query.get("to")) - Number(query.get("from")) - 9 * length) <= 2);
}));

test("roofline and utilisation have numbers for keyboard and pointer", summary(async (page) => {
  await run(page);
  await page.locator(".roofline svg").focus();
  // 192 floating-point operations over 360 bytes of device memory.
  assert.match(await page.locator(".roofline .readout").innerText(), /^total: 0\.533 flop\/B, below the ridge; [\d.]+\w? flop\/s/);
  assert.match(await page.locator(".roofline svg").first().getAttribute("aria-label"), /ridge at 223\.8 flop\/B/);
  const lanes = page.locator(".lanes li");
  assert.ok((await lanes.count()) >= 5);
  await lanes.last().locator("svg").hover({ position: { x: 5, y: 10 } });
  assert.match(await page.locator(".lanes .readout").innerText(), /^DMA: [\d.]+ % from [\d,]+ ns to [\d,]+ ns$/);
}));

test("a file without instructions says what is missing", summary(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}/catapult_simple_trace.json`);
  await waitForState(page, "done");
  await chooseTool(page, "summary");
  await page.getByText("No metrics in this file").waitFor();
  await assertAccessible(page);
}));

for (const [name, viewport, colorScheme] of [["phone, dark", { width: 360, height: 780 }, "dark"], ["desk, light", { width: 1280, height: 900 }, "light"]]) {
  test(`the summary fits and axe is content: ${name}`, summary(async (page) => {
    await run(page);
    for (const details of await page.locator(".finding summary").all()) await details.click();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, "nothing overflows to the side");
    await assertAccessible(page);
  }, { context: { viewport, colorScheme } }));
}
