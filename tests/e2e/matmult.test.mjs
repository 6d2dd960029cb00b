// The microbenchmark on the page: the guide's example, its pitfalls, sweeps, links and files, by mouse and by keyboard.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { appFixture, assertAccessible, download, editForm, menuEntry, openApp, reloaded, waitForState } from "./support/app.mjs";

const app = appFixture();
const button = (page, name) => page.getByRole("button", { name, exact: true });
const tile = (page, name) => page.locator(".tile", { has: page.getByText(name, { exact: true }) });

function commandLine(args) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const options = { maxBuffer: 1 << 28, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] };
  const { status, stdout, stderr } = spawnSync(process.env.NEURONSCOPE_CLI, args, options);
  assert.equal(status, 0, stderr);
  return stdout;
}

/** The words of the command that the document shows, without the program's name. */
const command = async (page) => (await page.getByLabel("Command").innerText()).trim().split(" ").slice(1);
const saved = async (page, label) => (await download(page, await menuEntry(page, `Download ${label}`))).bytes.toString();

async function run(page) {
  await button(page, "Run").click();
  await waitForState(page, "done");
}

test("the guide's example is the command line's, with its phases, spread and place under the roof", app.page(async (page) => {
  assert.equal(await page.title(), "Microbenchmark \u2013 neuronscope");
  await button(page, "The guide\u2019s example").click();
  await waitForState(page, "done");
  const args = await command(page);
  const printed = commandLine([...args, "--json"]);
  assert.equal(await saved(page, "JSON"), printed);
  assert.equal(await saved(page, "CSV"), commandLine([...args, "--csv"]));
  const [report] = JSON.parse(printed).reports;
  const achieved = await tile(page, "Achieved").innerText();
  assert.ok(achieved.includes(`${report.tops_computed.toFixed(2)} TFLOPS`), achieved);
  assert.ok(achieved.includes(`${report.peak_percent.toFixed(1)} %`), achieved);
  assert.equal(await tile(page, "Achieved").locator(".gauge").count(), 1);
  await page.getByText("No pitfall of the guide was found.").waitFor();
  await page.getByText("Limited by Tensor.").waitFor();
  const phases = await page.locator("figure.bars", { hasText: "Phases" }).innerText();
  for (const phase of ["Compile (modelled)", "Load", "Warm-up, 2 calls", "Timed run, 1,000 calls"]) assert.ok(phases.includes(phase), phases);
  await page.getByText("Distribution of the timed calls").waitFor();
  await page.getByText("While it executes").first().waitFor();
  await assertAccessible(page);
}, { hash: "#/matmult" }));

test("a pitfall is switched on, says what it costs, and the link shows the same form", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Products not chained").check();
  await page.getByLabel("Products in a call").fill("40");
  await run(page);
  await page.getByText("Products removed.").waitFor();
  const args = await command(page);
  const [report] = JSON.parse(commandLine([...args, "--json"])).reports;
  const finding = report.findings.find((f) => f.pitfall === "products_removed");
  const shown = await page.locator(".finding", { hasText: "Products removed." }).innerText();
  // The page capitalises its first letter.
  assert.ok(shown.includes(finding.sentence.slice(1)), shown);
  const effects = await page.locator("figure.bars", { hasText: "Cost of each pitfall" }).innerText();
  assert.match(effects, /As it is[\s\S]*Without: Products removed/);
  const products = (name) => page.getByRole("region", { name: `Source: HLO ${name}` }).locator("code", { hasText: " dot(" }).count();
  assert.ok((await products("as written")) >= 3);
  assert.equal(await products("after the compiler"), 1);
  assert.equal(await tile(page, "What the script prints").count(), 1);
  await assertAccessible(page);
  await (await menuEntry(page, "Copy link")).click();
  await page.getByText(/^The link is in the clipboard/).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#\/matmult\?v=1&.*loop_count=40.*unchained=true/);
  const other = await page.context().newPage();
  await openApp(other, link);
  await editForm(other);
  assert.ok(await other.getByLabel("Products not chained").isChecked());
  assert.equal(await other.getByLabel("Products in a call").inputValue(), "40");
  // The link runs by itself.
  await waitForState(other, "done");
  assert.equal(await saved(other, "JSON"), await saved(page, "JSON"));
  // Without the pitfall the result differs.
  await editForm(page);
  await page.getByLabel("Products not chained").uncheck();
  await run(page);
  await page.getByText("Products removed.").waitFor({ state: "detached" });
}, { hash: "#/matmult", context: { permissions: ["clipboard-read", "clipboard-write"] } }));

test("lists are swept: a heat map, lines, a row for each case, and this processor measured beside", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Matrix size N").fill("64,128");
  await page.getByLabel("Products in a call").fill("1,10,100");
  await page.getByText("More settings").click();
  await page.getByLabel("Compare with this processor").check();
  await run(page);
  const printed = JSON.parse(commandLine([...(await command(page)), "--json"])).reports;
  assert.equal(printed.length, 6);
  const map = page.locator(".heat-map table");
  const cells = await map.locator("td").allInnerTexts();
  assert.deepEqual(cells, printed.map((r) => r.peak_percent.toFixed(1)));
  await page.getByText("Rate by matrix size N").first().waitFor();
  assert.equal(await page.getByRole("table", { name: "Cases" }).locator("tbody tr").count(), 6);
  const measured = await page.locator("figure.bars", { hasText: "Measured processor" }).innerText();
  assert.match(measured, /Measured: N 64, batch 1[\s\S]*Measured: N 128, batch 1[\s\S]*Simulated/);
  await assertAccessible(page);
}, { hash: "#/matmult?v=1" }));

test("by keyboard: wrong fields are named and focused, a run is started with Enter, cancelled, and fits a phone", app.page(async (page) => {
  const size = page.getByLabel("Matrix size N");
  await editForm(page);
  await size.fill("0");
  assert.match(await page.locator("#matmult-matrix_dim-note").innerText(), /matrix_dim/);
  await page.getByLabel("Batch size").press("Enter");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "idle");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "matmult-matrix_dim");
  await page.keyboard.type("32");
  await size.fill("32");
  await page.getByLabel("No bias").focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Products in a call").fill("400");
  await page.getByLabel("Products in a call").press("Enter");
  await waitForState(page, "done");
  await page.getByText("No bias.", { exact: false }).first().waitFor();
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width[0] <= width[1], `the page is ${width[0]} wide on a screen of ${width[1]}`);
  await editForm(page);
  await size.fill("512,1024");
  await page.getByLabel("Products in a call").fill("500-600");
  await page.getByLabel("Products in a call").press("Enter");
  await waitForState(page, "running");
  await button(page, "Cancel").click();
  await page.getByText("Cancelled. Finished results are kept.").waitFor();
}, { hash: "#/matmult?v=1", context: { viewport: { width: 390, height: 844 } } }));

test("a link with values that cannot be used says so, and another model takes the layer's place", app.page(async (page) => {
  await page.getByText(/Link: dtype: 'int4' is not a format/).waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Another model").inputValue(), "mlp");
  assert.equal(await page.getByLabel("Batch size").inputValue(), "32");
  await page.locator(".notices").getByRole("button").first().click();
  await run(page);
  const args = await command(page);
  assert.ok(args.includes("mlp"), args.join(" "));
  assert.equal(await saved(page, "CSV"), commandLine([...args, "--csv"]));
}, { hash: "#/matmult?v=1&model=mlp&batch_size=32&dtype=int4" }));

test("a finished study is kept: a reload shows it without a run, and a measurement is not measured again", app.page(async (page) => {
  await editForm(page);
  await page.getByLabel("Matrix size N").fill("64,128");
  await page.getByText("More settings").click();
  await page.getByLabel("Compare with this processor").check();
  await run(page);
  const result = async () => [await saved(page, "JSON"), await saved(page, "CSV"), await page.locator(".results").innerText()];
  const before = await result();
  assert.match(before[2], /Measured processor/);
  // No two measurements are alike, so the same figures were not measured again.
  assert.deepEqual(await reloaded(page, result), before);
  await editForm(page);
  assert.equal(await page.getByLabel("Matrix size N", { exact: true }).inputValue(), "64,128");
  await page.evaluate(() => { location.hash = "#/"; });
  await page.getByRole("link", { name: "2 of 2 cases: Matrix size N 64,128" }).waitFor();
}, { hash: "#/matmult?v=1" }));
