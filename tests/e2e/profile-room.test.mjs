// Views of a profile fit their window: numbers are in sight without scrolling, pictures have its height, and sizes and times a unit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACE = fileURLToPath(new URL("../it/fixtures/traces/kineto_resnet50_workers0_a.json.gz", import.meta.url));
const DESKS = [{ width: 1440, height: 900 }, { width: 1280, height: 800 }];
const PHONE = { width: 390, height: 844 };
const BERT = "#/profile?v=1&model=bert-base-uncased&workflow=trace&instance=trn1.2xlarge&tool=overview";

async function open(page, tool) {
  await page.locator("#open-file").setInputFiles(TRACE);
  await waitForState(page, "done");
  await chooseTool(page, tool);
}

const table = (page, name) => page.getByRole("table", { name, exact: true });
/** The frame of a table: its width, and that of what it holds. */
const widths = (page, name) => table(page, name).evaluate((t) => ({ frame: t.parentElement.clientWidth, content: t.parentElement.scrollWidth }));
/** The right edge of a column on the screen, by its head. */
const edge = (page, name, head) => table(page, name).evaluate((t, head) => {
  const at = [...t.tHead.rows[0].cells].findIndex((cell) => cell.innerText.startsWith(head));
  return t.tBodies[0].querySelector("tr:not(.spacer)").cells[at].getBoundingClientRect().right;
}, head);

for (const viewport of DESKS) {
  test(`the tables of the Neuron plugin are whole in ${viewport.width} px`, app.page(async (page) => {
    await waitForState(page, "done");
    for (const [tool, name] of [["operator-framework", "Framework operators"], ["operator-hlo", "HLO operators"]]) {
      await chooseTool(page, tool);
      await table(page, name).waitFor();
      const { frame, content } = await widths(page, name);
      assert.ok(content <= frame, `${name}: ${content} of ${frame}`);
    }
  }, { hash: BERT, context: { viewport } }));

  test(`idle gaps show every column in ${viewport.width} px, and cut names say so`, app.page(async (page) => {
    await open(page, "idle-gaps");
    await table(page, "Idle gaps").waitFor();
    const { frame, content } = await widths(page, "Idle gaps");
    assert.ok(content <= frame, `${content} of ${frame}`);
    const cut = await table(page, "Idle gaps").evaluate((t) => [...t.querySelectorAll("tbody td:not(.number)")].flatMap((cell) => {
      const text = cell.querySelector(".name") ?? cell;
      const { textOverflow, whiteSpace, display } = getComputedStyle(text);
      const says = textOverflow === "ellipsis" && whiteSpace === "nowrap" && display !== "-webkit-box";
      return text.scrollWidth > text.clientWidth && !(says && text.title) ? [text.innerText] : [];
    }));
    assert.deepEqual(cut, []);
  }, { hash: "#/profile?v=1", context: { viewport } }));
}

test("on a phone the first measured number is in sight", app.page(async (page) => {
  await open(page, "idle-gaps");
  await table(page, "Idle gaps").waitFor();
  assert.ok((await edge(page, "Idle gaps", "Duration")) <= PHONE.width);
  await chooseTool(page, "statistics");
  await table(page, "Groups").waitFor();
  assert.ok((await edge(page, "Groups", "Total")) <= PHONE.width);
  // The mark of a row stands beside its name.
  const marks = await table(page, "Groups").locator("tbody th.has-swatch").evaluateAll((all) => all.map((cell) =>
    [".swatch", ".link"].map((part) => cell.querySelector(part).getBoundingClientRect()).reduce((mark, name) => name.left - mark.right)));
  assert.ok(marks.length > 3 && marks.every((room) => room > 0), marks.join());
}, { hash: "#/profile?v=1", context: { viewport: PHONE } }));

test("on a phone a benchmark shows a throughput in each row", app.page(async (page) => {
  await waitForState(page, "done");
  await table(page, "Benchmark results").waitFor();
  assert.ok((await edge(page, "Benchmark results", "Throughput")) <= PHONE.width);
}, { hash: "#/benchmark", context: { viewport: PHONE } }));

test("a flame graph has the height of its window and no frame of the profiler", app.page(async (page) => {
  await open(page, "flame-graph");
  const nodes = page.locator(".flame button");
  await nodes.first().waitFor();
  const names = await nodes.evaluateAll((all) => all.map((node) => node.title));
  assert.ok(names.length > 50 && !names.some((name) => name.startsWith("PyTorch Profiler")), names.slice(0, 5).join());
  await page.getByText("The rows of the profiler itself are left out").waitFor();
  const share = await page.locator(".flame > div").evaluate((div) => div.clientHeight / document.querySelector(".workspace-view").clientHeight);
  assert.ok(share > 0.5, `${share} of the view`);
  await assertAccessible(page);
  // Its own level still has them.
  await page.locator("#level").selectOption("profiler");
  await page.locator(".flame button[title^='PyTorch Profiler']").waitFor();
}, { hash: "#/profile?v=1", context: { viewport: DESKS[0] } }));

test("memory has a binary unit and places in time a short one, with the exact value at hand", app.page(async (page) => {
  await open(page, "counters");
  await page.locator(".lines text", { hasText: "memory (GiB)" }).waitFor();
  const most = table(page, "Counters").locator("tbody tr", { hasText: "CUDA 0" }).locator("td").nth(2);
  assert.deepEqual([await most.innerText(), await most.getAttribute("title")], ["2.60", "2791636480 bytes"]);
  await chooseTool(page, "idle-gaps");
  const start = table(page, "Idle gaps").locator("tbody tr:not(.spacer)").first().locator("td").first();
  assert.match(await start.innerText(), /^\d+\.\d{3}$/);
  assert.match(await start.getAttribute("title"), /^[\d,]+ ns$/);
  await chooseTool(page, "critical-path");
  assert.match(await page.getByText(/ over [\d,]+ parts/).innerText(), /^1\.07 s over/);
}, { hash: "#/profile?v=1", context: { viewport: DESKS[0] } }));

test("the details of an operator fit beside the picture", app.page(async (page) => {
  await waitForState(page, "done");
  await page.locator(".tree-row", { hasText: "BertEmbeddings" }).first().click();
  await page.getByRole("table", { name: "Details" }).waitFor();
  const frames = await page.locator(".model-details .table-scroll").evaluateAll((all) => all.map((f) => [f.clientWidth, f.scrollWidth]));
  for (const [frame, content] of frames) assert.ok(content <= frame, `${content} of ${frame}`);
  assert.equal(await page.locator(".model-details .panel", { has: page.getByRole("table", { name: "Details" }) }).getByRole("searchbox").count(), 0);
}, { hash: "#/inspect?model=bert-base-uncased", context: { viewport: DESKS[0] } }));
