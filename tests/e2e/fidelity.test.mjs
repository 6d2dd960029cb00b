// Figures of devices beside the model: the tables of the program, a table of the user, a link, the command.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appFixture, assertAccessible, download, editForm, eventually, menuEntry, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const MINE = "model,instance,batch_size,n_models_or_cores,throughput\nresnet50,inf2.xlarge,1,1,1218.9\nof-nobody,inf2.xlarge,1,1,5\n";
const cell = (page, text) => page.locator("td, th", { hasText: text }).first();

const printed = (line, cwd) => {
  const run = spawnSync("sh", ["-c", line.replace(/^neuronscope /, '"$NEURONSCOPE_CLI" ')], { encoding: "utf8", cwd });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout;
};

test("the page opens on the published figures, as the command prints them", app.page(async (page) => {
  await waitForState(page, "done");
  await assertAccessible(page);
  const line = await page.getByLabel("Command", { exact: true }).innerText();
  assert.equal(line, "neuronscope validate published");
  const { bytes } = await download(page, await menuEntry(page, "Download JSON"));
  assert.equal(bytes.toString(), printed(`${line} --json`));
  const { summary } = JSON.parse(bytes.toString());
  const tile = page.locator(".tiles .tile", { has: page.getByText("Median error", { exact: true }) });
  assert.ok((await tile.innerText()).includes(`${(summary.median_abs_error * 100).toFixed(1)} %`));
  await page.getByRole("link", { name: "Values", exact: true }).click();
  await page.waitForFunction(() => location.hash.startsWith("#/numerics"));
}, { hash: "#/fidelity" }));

test("a table that is dropped on any page is judged, and its link opens on the same figures", app.page(async (page, url) => {
  await waitForState(page, "idle");
  await page.locator("#open-file").setInputFiles({ name: "mine.csv", mimeType: "text/csv", buffer: Buffer.from(MINE) });
  await page.waitForFunction(() => location.hash.startsWith("#/fidelity"));
  await waitForState(page, "done");
  await page.getByRole("heading", { name: "mine.csv beside the model" }).waitFor();
  await cell(page, "resnet50").waitFor();
  await cell(page, "of-nobody").waitFor();
  const figures = await page.locator(".tiles").innerText();
  const line = await page.getByLabel("Command", { exact: true }).innerText();
  const folder = mkdtempSync(join(tmpdir(), "figures-"));
  writeFileSync(join(folder, "mine.csv"), MINE);
  const { bytes } = await download(page, await menuEntry(page, "Download JSON"));
  assert.equal(bytes.toString(), printed(`${line} --json`, folder));
  const link = await page.evaluate(() => location.hash);
  const other = await page.context().newPage();
  await openApp(other, url + link);
  await waitForState(other, "done");
  await eventually(async () => assert.equal(await other.locator(".tiles").innerText(), figures));
  await other.close();
  // A table of the program comes back with its own rows.
  await page.getByRole("button", { name: "Instructions and transfers" }).click();
  await page.getByRole("heading", { name: "instructions.csv beside the model" }).waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Rows", { exact: true }).inputValue(), "");
}, { hash: "#/" }));

test("a table that cannot be read says which column it lacks", app.page(async (page) => {
  await waitForState(page, "failed");
  await page.getByText(/is not a table of published figures: the table has no column model; its columns are a, b/).first().waitFor();
}, { hash: "#/fidelity?v=1&table=own&rows=a%2Cb%0A1%2C2" }));
