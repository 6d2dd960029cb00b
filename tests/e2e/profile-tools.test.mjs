// Tools of the profile page for any trace: statistics, flame graph, modules, comparison, queries.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, download, waitForState } from "./support.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const TRACE = "hta_amd_mi250_minitoy.json.gz";
const button = (page, name) => page.getByRole("button", { name, exact: true });
const tools = (body, options) => app.page(body, { hash: "#/profile", ...options });

async function open(page, file, tool) {
  await page.locator("input[type=file]").setInputFiles(`${TRACES}/${file}`);
  await waitForState(page, "done");
  await page.getByLabel("Tool", { exact: true }).selectOption(tool);
}

test("statistics count every slice of a real trace; a group has a histogram and is highlighted", tools(async (page) => {
  await open(page, TRACE, "statistics");
  const rows = page.getByRole("table", { name: "Groups" }).locator("tbody tr");
  await rows.first().waitFor();
  const facts = JSON.parse(readFileSync(`${TRACES}/${TRACE}.facts.json`, "utf8"));
  const counts = await rows.locator("td:nth-child(2)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value)));
  assert.equal(counts.reduce((a, b) => a + b), (facts.by_ph ?? facts.by_phase).X);
  const name = await rows.first().locator("th button").innerText();
  await rows.first().locator("th button").focus();
  await page.keyboard.press("Enter");
  const group = page.getByRole("region", { name: "Selected group" });
  await group.getByText(new RegExp(`Durations of ${counts[0]} slices`)).waitFor();
  await assertAccessible(page);
  await group.getByRole("button", { name: "Highlight on the timeline" }).click();
  assert.equal(await page.getByLabel("Search slices").inputValue(), name);
}));

test("a query is answered as a table, by keyboard, and a mistake says where it is", tools(async (page) => {
  await open(page, "catapult_simple_trace.json", "ask");
  await page.getByLabel("Query").fill("show count");
  await page.keyboard.press("Enter");
  const answer = page.getByRole("table", { name: "Answer" });
  await answer.waitFor();
  // 4 X and 8 pairs of B and E in the file.
  assert.equal(await answer.locator("tbody tr th").innerText(), "12");
  const saved = await download(page, button(page, "Download Answer as CSV"));
  assert.equal(saved.bytes.toString(), "count\n12\n");
  await page.getByLabel("Query").fill("where colour = red");
  await page.keyboard.press("Enter");
  await page.getByText(/at character 7: expected a field/).waitFor();
  await assertAccessible(page);
}));

test("the flame graph zooms into a stack and back, and a name has callers", tools(async (page) => {
  await open(page, TRACE, "flame-graph");
  const nodes = page.locator(".flame button");
  await nodes.first().waitFor();
  const all = await nodes.count();
  assert.ok(all > 10);
  await nodes.nth(1).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((n) => document.querySelectorAll(".flame button").length < n, all);
  await button(page, "Show everything").click();
  await page.waitForFunction((n) => document.querySelectorAll(".flame button").length === n, all);
  await page.getByLabel("View", { exact: true }).selectOption("sandwich");
  await page.getByLabel("Name", { exact: true }).fill("hipLaunchKernel");
  await page.getByText(/^hipLaunchKernel: 12 slices/).waitFor();
  await assertAccessible(page);
}));

test("modules of a simulated model are a tree", tools(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await page.getByLabel("Tool", { exact: true }).selectOption("modules");
  const rows = page.getByRole("table", { name: "Module hierarchy" }).locator("tbody th");
  await rows.first().waitFor();
  assert.ok((await rows.allInnerTexts()).some((t) => t.includes("Linear[layer1]")));
}));

test("mark_step is compared with trace", tools(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await page.getByLabel("Tool", { exact: true }).selectOption("compare");
  await page.getByText("One profile is open").waitFor();
  await page.getByLabel("Workflow").selectOption("trace");
  await button(page, "Run").click();
  const table = page.getByRole("table", { name: "Operators compared" });
  await table.waitFor();
  await page.getByLabel("Time", { exact: true }).selectOption("total");
  const names = await table.locator("tbody th").allInnerTexts();
  assert.ok(names.includes("aten__addmm_dot"), names.join());
  await assertAccessible(page);
}));

for (const tool of ["statistics", "flame-graph", "ask"]) {
  test(`${tool} fits a phone in the dark`, tools(async (page) => {
    await open(page, TRACE, tool);
    await page.waitForTimeout(600);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, "nothing overflows to the side");
    await assertAccessible(page);
  }, { context: { viewport: { width: 360, height: 780 }, colorScheme: "dark" } }));
}
