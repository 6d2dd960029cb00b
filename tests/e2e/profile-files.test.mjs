// Several files: an archive of traces, a second file while one is read, a file that goes away, two files compared.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, waitForState } from "./support.mjs";
import { writeSynthetic } from "./synthetic.mjs";
import { zipOf } from "./zip.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const FOLDER = mkdtempSync(join(tmpdir(), "neuronscope-e2e-"));
after(() => rmSync(FOLDER, { recursive: true, force: true }));
const files = (body, options) => app.page(body, { hash: "#/profile", ...options });
const facts = (file) => JSON.parse(readFileSync(`${TRACES}/${file}.facts.json`, "utf8"));
const input = (page) => page.locator("input[type=file]").first();
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
    const found = await page.locator(".facts").first().innerText();
    assert.match(found.replaceAll("\n", " "), new RegExp(`Events ${facts(name).n_events}\\b`), name);
  }
  // Closing one leaves the others.
  await page.getByRole("button", { name: "Close run" }).click();
  assert.equal(await runs(page).locator("option").count(), 2);
  await page.getByLabel("Tool", { exact: true }).selectOption("summary");
  await page.getByRole("region", { name: "In short" }).getByText(/A profile/).waitFor();
}));

const BIG = join(FOLDER, "big.json");

test("a second file while one is read waits for an answer, and the first profile stays", files(async (page) => {
  writeSynthetic(BIG, 300_000);
  await input(page).setInputFiles(`${TRACES}/catapult_nanoseconds.json`);
  await waitForState(page, "done");
  await input(page).setInputFiles(BIG);
  await waitForState(page, "running");
  await input(page).setInputFiles(`${TRACES}/hta_amd_mi250_minitoy.json.gz`);
  await page.getByText(/hta_amd_mi250_minitoy\.json\.gz was not opened: another run or file is being worked on/).waitFor();
  await page.getByRole("heading", { name: "catapult_nanoseconds.json" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await waitForState(page, "idle");
  assert.deepEqual(await runs(page).locator("option").allInnerTexts(), ["catapult_nanoseconds.json"]);
  await input(page).setInputFiles(`${TRACES}/hta_amd_mi250_minitoy.json.gz`);
  await waitForState(page, "done");
  assert.equal(await runs(page).locator("option").count(), 2);
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
  await page.getByRole("alert").filter({ hasText: /gone\.json: can't be read at byte \d+.*Check that it is still there and open it again/ }).waitFor();
  await page.getByRole("application", { name: "Timeline" }).waitFor();
  assert.deepEqual(await runs(page).locator("option").allInnerTexts(), ["catapult_nanoseconds.json"]);
}));

/** Count and total time of each name of the complete events of a trace. */
function totals(file) {
  const known = new Map();
  for (const [name, count, total] of facts(file).X_top10_total_ns) known.set(name, { count, total });
  return known;
}

test("two files are compared: a table sorted by effect, swapped, and two timelines on one axis", files(async (page) => {
  const [base, other] = ["hta_amd_mi250_minitoy.json.gz", "hta_triton_example.json.gz"];
  await input(page).setInputFiles(`${TRACES}/${base}`);
  await waitForState(page, "done");
  await page.getByLabel("Tool", { exact: true }).selectOption("compare");
  await page.getByText("One profile is open").waitFor();
  await input(page).setInputFiles(`${TRACES}/${other}`);
  // The second file is compared at once.
  const table = page.getByRole("table", { name: "Operators compared" });
  await table.waitFor();
  assert.equal(await page.getByLabel("Tool", { exact: true }).inputValue(), "compare");
  await page.getByLabel("Time", { exact: true }).selectOption("total");
  const rows = async () => table.locator("tbody tr:not(.spacer)").evaluateAll((all) => all.map((row) => [
    row.querySelector("th").innerText,
    ...[...row.querySelectorAll("td")].map((cell) => cell.dataset.value),
  ]));
  const shown = await rows();
  const effects = shown.map((row) => Math.abs(Number(row[6])));
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
  // The first slice that is chosen is named for both.
  await page.keyboard.press("Enter");
  await page.getByText(/its name is highlighted on both\./).waitFor();

  await page.getByRole("button", { name: "Swap" }).click();
  await page.getByText(new RegExp(`^${base.replaceAll(".", "\\.")} against ${other.replaceAll(".", "\\.")} as base`)).waitFor();
  const swapped = new Map((await rows()).map((row) => [row[0], Number(row[6])]));
  for (const row of shown) if (swapped.has(row[0])) assert.equal(swapped.get(row[0]), -Number(row[6]), row[0]);
}));
