// Several files: an archive of traces, a second file while one is read, a file that goes away, two files compared.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, assertAccessible, chooseLevel, chooseTool, countEachName, download, eventually, menuEntry, toolShown, waitForState } from "./support/app.mjs";
import { writeSynthetic } from "./support/synthetic.mjs";
import { zipOf } from "./support/zip.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const FOLDER = mkdtempSync(join(tmpdir(), "neuronscope-e2e-"));
after(() => rmSync(FOLDER, { recursive: true, force: true }));
const files = (body, options) => app.page(body, { hash: "#/profile?v=1", ...options });
const facts = (file) => JSON.parse(readFileSync(`${TRACES}/${file}.facts.json`, "utf8"));
const input = (page) => page.locator("#open-file").first();
const runs = (page) => page.getByLabel("Run", { exact: true });

test("every profile of an archive is a run", files(async (page) => {
  const names = ["hta_amd_mi250_minitoy.json.gz", "catapult_nanoseconds.json", "perfetto_connected_flow_data.json"];
  const zip = join(FOLDER, "three.zip");
  writeFileSync(zip, zipOf(names.map((name) => [name, readFileSync(`${TRACES}/${name}`)])));
  await input(page).setInputFiles(zip);
  await waitForState(page, "done");
  await page.getByText("The file holds 3 profiles; Run lists them.").waitFor();
  const listed = await runs(page).locator("option").allInnerTexts();
  assert.equal(listed.length, 3);
  for (const name of names) {
    const label = listed.find((text) => text.includes(name.replace(/\.json.*/, "")));
    assert.ok(label, `${name} is among ${listed.join()}`);
    await runs(page).selectOption({ label });
    const found = async () => (await page.locator(".facts").first().innerText()).replaceAll("\n", " ");
    await eventually(async () => assert.match(await found(), new RegExp(`Events ${facts(name).n_events}\\b`), name));
  }
  // Closing one run leaves the others.
  await page.getByRole("button", { name: "Close run" }).click();
  await eventually(async () => assert.equal(await runs(page).locator("option").count(), 2));
  await chooseTool(page, "summary");
  await page.getByRole("region", { name: "In short" }).getByText(/A profile/).waitFor();
}));

const BIG = join(FOLDER, "big.json");

test("a second file while one is read comes first, and the page says that the other was stopped", files(async (page) => {
  writeSynthetic(BIG, 1_000_000);
  await input(page).setInputFiles(`${TRACES}/catapult_nanoseconds.json`);
  await waitForState(page, "done");
  await input(page).setInputFiles(BIG);
  await waitForState(page, "running");
  await input(page).setInputFiles(`${TRACES}/hta_amd_mi250_minitoy.json.gz`);
  await page.getByText(/was stopped: something else was asked for since/).waitFor();
  await page.getByRole("heading", { name: "hta_amd_mi250_minitoy.json.gz" }).waitFor();
  await waitForState(page, "done");
  const both = ["catapult_nanoseconds.json", "hta_amd_mi250_minitoy.json.gz"];
  assert.deepEqual(await runs(page).locator("option").allInnerTexts(), both);
  // A file whose reading is stopped leaves what was there.
  await input(page).setInputFiles(BIG);
  await waitForState(page, "running");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: "hta_amd_mi250_minitoy.json.gz" }).waitFor();
  assert.deepEqual(await runs(page).locator("option").allInnerTexts(), both);
}));

test("a file that goes away while it is read is named; the earlier profile is still there", files(async (page) => {
  const gone = join(FOLDER, "gone.json");
  writeSynthetic(gone, 300_000);
  await input(page).setInputFiles(`${TRACES}/catapult_nanoseconds.json`);
  await waitForState(page, "done");
  await input(page).setInputFiles(gone);
  await waitForState(page, "running");
  rmSync(gone);
  await waitForState(page, "failed");
  await page.getByRole("alert").filter({ hasText: /gone\.json: cannot be read at byte \d+.*Check that the file still exists and open it again/ }).waitFor();
  assert.equal(await page.locator(".workspace-view").count(), 0);
  await page.getByRole("button", { name: "Show catapult_nanoseconds.json again" }).click();
  await page.locator(".workspace-view").waitFor();
  assert.deepEqual(await runs(page).locator("option").allInnerTexts(), ["catapult_nanoseconds.json"]);
}));

/** Count and total time of each name of the complete events of a trace. */
function totals(file) {
  const known = new Map();
  for (const [name, count, total] of facts(file).X_top10_total_ns) known.set(name, { count, total });
  return known;
}

// Names of slices that only wrap others: a step, and the profiler's own span.
// What wraps or waits comes last.
const WRAPPER = /^(ProfilerStep#\d+|PyTorch Profiler \(\d+\)|(cuda|hip)\w*Synchronize)$/;

test("two files are compared: a table sorted by effect, swapped, and two timelines on one axis", files(async (page) => {
  const [base, other] = ["hta_amd_mi250_minitoy.json.gz", "hta_triton_example.json.gz"];
  await input(page).setInputFiles(`${TRACES}/${base}`);
  await waitForState(page, "done");
  await chooseTool(page, "compare");
  await page.getByText("One profile is open").waitFor();
  await input(page).setInputFiles(`${TRACES}/${other}`);
  // The second file is compared at once.
  const table = page.getByRole("table", { name: "Operators compared" });
  await table.waitFor();
  assert.equal(await toolShown(page), "compare");
  await page.getByLabel("Time", { exact: true }).selectOption("total");
  // Both traces have device kernels; the facts count all slices.
  await page.getByText(/By operator \(level device kernels\)/).waitFor();
  await chooseLevel(page, "all");
  await page.getByText(/By operator \(level all\)/).waitFor();
  await countEachName(page);
  const rows = async () => table.locator("tbody tr:not(.spacer)").evaluateAll((all) => all.map((row) => [
    row.querySelector("th").innerText,
    ...[...row.querySelectorAll("td")].map((cell) => cell.dataset.value),
  ]));
  const shown = await rows();
  const effects = shown.filter(([name]) => !WRAPPER.test(name)).map((row) => Math.abs(Number(row[6])));
  assert.ok(effects.length > 10, `${effects.length} rows of work`);
  assert.deepEqual(effects, [...effects].sort((a, b) => b - a));
  const [ours, theirs] = [totals(base), totals(other)];
  let checked = 0;
  for (const [name, presence, baseCount, otherCount, baseNs, otherNs] of shown) {
    if (ours.has(name)) {
      assert.deepEqual([Number(baseCount), Number(baseNs)], Object.values(ours.get(name)), name);
      checked += 1;
    }
    if (theirs.has(name)) assert.deepEqual([Number(otherCount), Number(otherNs)], Object.values(theirs.get(name)), name);
    if (presence === "new") assert.equal(Number(baseCount), 0);
    if (presence === "gone") assert.equal(Number(otherCount), 0);
  }
  assert.ok(checked > 4, `${checked} names of the base were in view`);
  await assertAccessible(page);

  // One axis: zooming one with the keyboard moves the other.
  const one = page.getByRole("application", { name: `Timeline of ${base}` });
  const two = page.getByRole("application", { name: `Timeline of ${other}` });
  await page.waitForTimeout(600);
  const [before, beside] = [await one.screenshot(), await two.screenshot()];
  await one.focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("w");
  await page.waitForTimeout(600);
  assert.notDeepEqual(await one.screenshot(), before);
  assert.notDeepEqual(await two.screenshot(), beside);
  await page.keyboard.press("0");
  // The name of the first chosen slice is highlighted on both.
  // Until the slices of that zoom have arrived, Enter has nothing to choose.
  const chosen = page.getByText(/its name is highlighted on both\./);
  for (let tries = 0; tries < 60 && !(await chosen.isVisible()); tries++) {
    await page.keyboard.press("Enter");
    await page.waitForTimeout(500);
  }
  await chosen.waitFor();

  // The first slices of a name are aligned: one profile is moved by the difference of their starts.
  await table.getByRole("button", { name: "ProfilerStep#1", exact: true }).click();
  await page.getByText("ProfilerStep#1 is highlighted on both.").waitFor();
  await page.getByRole("button", { name: "Align at this name" }).click();
  const start = (file) => {
    const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/${file}`))).traceEvents.filter((e) => e.name === "ProfilerStep#1");
    return Math.round(Math.min(...events.map((e) => e.ts)) * 1000) - facts(file).min_ts_ns;
  };
  const said = await page.getByText(new RegExp(`^${other.replaceAll(".", "\\.")} is shown .* ns (earlier|later)\\.$`)).innerText();
  const moved = Number(said.match(/shown ([\d,]+) ns/)[1].replaceAll(",", "")) * (said.includes("earlier") ? 1 : -1);
  // Times of the file pass through a double here, which is accurate to a few hundred nanoseconds.
  assert.ok(Math.abs(moved - (start(other) - start(base))) < 1_000, `${moved} against ${start(other) - start(base)}`);
  await page.getByRole("button", { name: "Align starts" }).click();

  await page.getByRole("button", { name: "Swap" }).click();
  // From the first to the last step: the span that the steps of each file have together.
  const steps = [base, other].map((file) => {
    const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/${file}`))).traceEvents.filter((e) => e.cat === "user_annotation" && /^ProfilerStep#/.test(e.name));
    return Math.max(...events.map((e) => e.ts + e.dur)) - Math.min(...events.map((e) => e.ts));
  });
  const took = `Steps: ${(steps[1] / 1e6).toFixed(1)} s -> ${(steps[0] / 1e3).toFixed(2)} ms`;
  const [ofBase, ofOther] = [base, other].map((file) => file.replaceAll(".", "\\."));
  await page.getByText(new RegExp(`^${took.replaceAll(".", "\\.")} \\(-99\\.9 %\\), of ${ofBase} against ${ofOther} as base\\. By operator \\(level all\\)`)).waitFor();
  const swapped = new Map((await rows()).map((row) => [row[0], Number(row[6])]));
  for (const row of shown) if (swapped.has(row[0])) assert.equal(swapped.get(row[0]), -Number(row[6]), row[0]);
}));

test("a comparison fits a phone in the dark", files(async (page) => {
  for (const file of ["hta_amd_mi250_minitoy.json.gz", "hta_triton_example.json.gz"]) {
    await input(page).setInputFiles(`${TRACES}/${file}`);
    await page.locator("#run-title").filter({ hasText: file.split(".")[0] }).waitFor({ state: "attached" });
    await waitForState(page, "done");
  }
  await chooseTool(page, "compare");
  await page.getByRole("table", { name: "Operators compared" }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0, "nothing overflows to the side");
  await assertAccessible(page);
}, { context: { viewport: { width: 360, height: 780 }, colorScheme: "dark" } }));

test("marks stay with their run, go into the exported trace and come back with it", files(async (page) => {
  const [one, two] = ["catapult_nanoseconds.json", "hta_triton_example.json.gz"];
  for (const file of [one, two]) {
    await input(page).setInputFiles(`${TRACES}/${file}`);
    await waitForState(page, "done");
  }
  const timeline = page.getByRole("application", { name: "Timeline" });
  await chooseTool(page, "operator-timeline");
  const marks = page.getByRole("region", { name: "Marks and ranges", exact: true });
  await timeline.focus();
  await page.keyboard.press("Enter");
  await page.getByText("Wall duration").waitFor();
  await page.keyboard.press("m");
  await marks.waitFor();
  const cells = () => marks.locator("tbody tr").first().locator("td.number").allInnerTexts();
  const name = marks.getByLabel("Name of mark 1");
  await name.fill("the first, 'quoted'");
  const before = await cells();
  await runs(page).selectOption({ label: one });
  await marks.waitFor({ state: "detached" });
  await runs(page).selectOption({ label: two });
  await eventually(async () => assert.equal(await name.inputValue(), "the first, 'quoted'"));
  const saved = await download(page, await menuEntry(page, "Download JSON"));
  assert.equal(JSON.parse(saved.bytes).neuronscopeMarks.length, 1);
  await input(page).setInputFiles({ name: "again.json", mimeType: "application/json", buffer: saved.bytes });
  await page.getByRole("heading", { name: "again.json" }).waitFor();
  await chooseTool(page, "operator-timeline");
  assert.equal(await name.inputValue(), "the first, 'quoted'");
  assert.deepEqual(await cells(), before);
}));

test("the files of a run directory that are given together are one run", files(async (page) => {
  const table = (name) => Buffer.from(JSON.stringify({ ops: [{ op_name: name, op_occurrences: 2, op_device: 0, op_core: 1, op_time: 279 }], total_time: 279 }));
  const slice = { ph: "X", name: "%dot.1", cat: "dot", pid: 1, tid: 1, ts: 1, dur: 0.279 };
  const timeline = Buffer.from(JSON.stringify({ displayTimeUnit: "ns", neuronStartTimestampNs: 0, traceEvents: [slice] }));
  const file = (name, buffer) => ({ name, mimeType: "application/json", buffer });
  await page.locator("#open-file").setInputFiles([
    file("neuron_framework_op.json", table("aten__addmm_dot")), file("neuron_hlo_op.json", table("dot")), file("neuron_op_timeline.json", timeline),
  ]);
  await page.waitForFunction(() => document.querySelector(".run-title")?.textContent.includes("3 files"));
  assert.equal(await page.getByLabel("Run", { exact: true }).locator("option").count(), 1);
  await chooseTool(page, "operator-hlo");
  const row = page.getByRole("table", { name: "HLO operators" }).locator("tbody tr").first();
  await row.waitFor();
  assert.match(await row.innerText(), /dot\s+2\s+0\s+1\s+279/);
}));
