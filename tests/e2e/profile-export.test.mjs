// The export menu: every format opens again with as many slices, and the view is saved as a picture.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, download, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const profile = (body, options) => app.page(body, { hash: "#/profile?v=1", ...options });
const menu = (page) => page.locator("details.menu", { has: page.locator('[data-format="table-csv"]') });
const fact = (page, name) => page.locator(".facts div", { has: page.locator("dt", { hasText: name }) }).locator("dd").first().innerText();
const open = (page, name, buffer) => page.locator("#open-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
const shows = (page, name) =>
  page.waitForFunction((wanted) => document.querySelector(".run-title")?.textContent.includes(wanted), name);

async function exported(page, format) {
  await menu(page).locator("summary").click();
  return download(page, page.locator(`button[data-format="${format}"]`));
}

// A trace of a GPU: 113 slices by its facts.
const TRACE = "hta_amd_mi250_minitoy.json.gz";
const FACTS = JSON.parse(readFileSync(`${TRACES}/${TRACE}.facts.json`, "utf8"));

for (const [format, suffix] of [
  ["chrome", ".trace.json"],
  ["perfetto", ".pftrace"],
  ["speedscope", ".speedscope.json"],
  ["xplane", ".xplane.pb"],
]) {
  test(`${format} opens again with as many slices`, profile(async (page) => {
    await open(page, TRACE, readFileSync(`${TRACES}/${TRACE}`));
    await waitForState(page, "done");
    assert.equal(Number(await fact(page, "Slices")), FACTS.slices_X_plus_matched_BE ?? 113);
    const saved = await exported(page, format);
    assert.ok(saved.name.endsWith(suffix), saved.name);
    await open(page, `again${suffix}`, saved.bytes);
    await shows(page, "again");
    assert.equal(Number(await fact(page, "Slices")), FACTS.slices_X_plus_matched_BE ?? 113);
  }));
}

test("slices as CSV have a line each", profile(async (page) => {
  await open(page, TRACE, readFileSync(`${TRACES}/${TRACE}`));
  await waitForState(page, "done");
  const saved = await exported(page, "csv");
  assert.ok(saved.name.endsWith(".slices.csv"), saved.name);
  // Arguments contain line breaks, inside quotes.
  const lines = saved.bytes.toString().replaceAll(/"(?:[^"]|"")*"/g, "").trimEnd().split("\n");
  assert.equal(lines.length, 1 + 113);
}));

test("the plugin's files and the log directory of an execution open again", profile(async (page) => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
  const slices = await fact(page, "Slices");
  for (const [format, suffix] of [["neuron-plugin", ".neuron.zip"], ["tensorboard", ".logdir.zip"]]) {
    const saved = await exported(page, format);
    assert.ok(saved.name.endsWith(suffix), saved.name);
    await open(page, `${format}.zip`, saved.bytes);
    await shows(page, format);
    const chosen = page.getByLabel("Run", { exact: true });
    const runs = await chosen.locator("option").allInnerTexts();
    const read = runs.filter((name) => name.includes(`${format}.zip`));
    assert.equal(read.length, 1, `one run of ${runs}`);
    assert.match(read[0], /2024_01_01_00_00_00_00_[0-9a-f]{16}_1/);
    assert.equal(await fact(page, "Slices"), slices);
    await chosen.selectOption({ label: runs.find((name) => name.includes("mark_step")) });
    await shows(page, "mark_step");
  }
}));

test("the view is kept as SVG and as PNG, by keyboard", profile(async (page) => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
  await chooseTool(page, "operator-timeline");
  await settledAddress(page);
  await menu(page).locator("summary").focus();
  await page.keyboard.press("Enter");
  await assertAccessible(page);
  const svgButton = page.locator('button[data-format="svg"]');
  await svgButton.focus();
  const [started] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  const svg = readFileSync(await started.path(), "utf8");
  assert.ok(started.suggestedFilename().endsWith(".svg"));
  assert.ok(svg.startsWith("<svg ") && svg.includes("Process Control") && svg.trimEnd().endsWith("</svg>"));
  assert.equal(await menu(page).getAttribute("open"), null, "it closes");
  const png = await exported(page, "png");
  assert.deepEqual([...png.bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  assert.equal(png.bytes.readUInt32BE(16), await page.locator("canvas").first().evaluate((c) => c.width));
  // A table has no picture.
  await chooseTool(page, "operator-framework");
  await menu(page).locator("summary").click();
  assert.equal(await svgButton.count(), 0);
  await page.keyboard.press("Escape");
  assert.equal(await menu(page).getAttribute("open"), null);
}));
