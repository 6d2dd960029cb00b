// The menu of copies on each view: links, commands that give the same, tables as Markdown, pictures.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { appFixture, assertAccessible, chooseTool, copyMenu, download, settledAddress, waitForState } from "./support.mjs";

const app = appFixture();
const context = { permissions: ["clipboard-read", "clipboard-write"] };
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const said = (page, text) => page.locator(".notice").filter({ hasText: text }).first().waitFor();

// What the command line prints for a command that the page copied.
function run(line, more) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const script = `${line.replace(/^neuronscope /, '"$NEURONSCOPE_CLI" ')} ${more}`;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

async function copied(page, kind, index = 0) {
  // What is said next is of this copy.
  await page.evaluate(() => document.querySelectorAll(".notice button").forEach((button) => button.click()));
  await page.waitForFunction(() => !document.querySelector(".notice"));
  const menu = await copyMenu(page);
  await menu.locator(`[data-copy="${kind}"]`).nth(index).click();
  await page.locator(".notice").filter({ hasText: /is in the clipboard/ }).waitFor();
  await page.waitForFunction(() => !document.querySelector("details.menu[open]"));
}

const cells = (line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());

test("results: the command gives the same rows, the table is Markdown in its order, a chart is a picture", app.page(async (page) => {
  await waitForState(page, "done");
  await copied(page, "command");
  const { reports } = JSON.parse(run(await clipboard(page), "--json"));
  const shown = page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr");
  assert.equal(reports.length, await shown.count());
  await copied(page, "markdown");
  const lines = (await clipboard(page)).trimEnd().split("\n");
  assert.equal(lines.length, reports.length + 2);
  assert.match(lines[1], /^\|( -{3}:? \|)+$/);
  const head = await page.getByRole("table", { name: "Benchmark results" }).locator("thead th").evaluateAll((all) => all.filter((th) => th.querySelector("button")).map((th) => th.querySelector("button").firstChild.textContent));
  assert.deepEqual(cells(lines[0]), head);
  for (const line of lines.slice(2)) assert.equal(cells(line).length, head.length);
  const columns = (text) => cells(text)[head.findIndex((name) => name.startsWith("Throughput"))];
  const rates = lines.slice(2).map(columns).map((text) => Number(text.replaceAll(",", "")));
  assert.deepEqual(rates, [...rates].sort((a, b) => b - a), "as the link sorts it");
  await copied(page, "image");
  const type = await page.evaluate(async () => (await navigator.clipboard.read())[0].types);
  assert.deepEqual(type, ["image/png"]);
}, { hash: "#/benchmark?v=1&model=nn&duration=2&n_models=1,2&workers_per_model=1&sort=-throughput_avg", context }));

test("a profile: each tool's command, the overview as Markdown, the timeline as a picture", app.page(async (page) => {
  await waitForState(page, "done");
  await page.locator(".document .tiles").first().waitFor();
  await copied(page, "markdown");
  assert.match(await clipboard(page), /^## .*[\s\S]*\| Device window \|/);
  await chooseTool(page, "statistics");
  await page.getByRole("table", { name: "Groups" }).waitFor();
  await copied(page, "command");
  const command = await clipboard(page);
  assert.match(command, /^neuronscope operators 'sim:nn\?/);
  const rows = JSON.parse(run(command, "--json"));
  const names = await page.getByRole("table", { name: "Groups" }).locator("tbody tr th .name, tbody tr th .link").allInnerTexts();
  const text = JSON.stringify(rows);
  for (const name of names) assert.ok(text.includes(JSON.stringify(name)), `${name} is not in what the command prints`);
  await chooseTool(page, "operator-timeline");
  await settledAddress(page);
  const menu = await copyMenu(page);
  await assertAccessible(page);
  await menu.getByRole("button", { name: "Timeline", exact: true }).click();
  await said(page, "The picture is in the clipboard.");
}, { hash: "#/profile?v=1&model=nn&tool=overview", context }));

test("a browser that takes no pictures saves a file, and a refused text is shown", app.page(async (page) => {
  await waitForState(page, "done");
  const menu = await copyMenu(page);
  const { name, bytes } = await download(page, menu.locator('[data-copy="image"]').first());
  assert.match(name, /\.png$/);
  assert.deepEqual([...bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  await said(page, "was saved as a file");
  await (await copyMenu(page)).locator('[data-copy="command"]').click();
  await said(page, "neuronscope bench --model nn");
}, {
  hash: "#/benchmark?v=1&model=nn&duration=2&n_models=1",
  init: () => {
    delete window.ClipboardItem;
    if (window.Clipboard) Clipboard.prototype.writeText = () => Promise.reject(new Error("not today"));
  },
}));

test("on a phone the menu opens by keyboard, stays in the window and closes", app.page(async (page) => {
  await waitForState(page, "done");
  const menu = page.locator("details.menu", { has: page.locator('[data-copy="link"]') });
  await menu.locator("summary").focus();
  await page.keyboard.press("Enter");
  await menu.locator('[data-copy="link"]').waitFor();
  await assertAccessible(page);
  const list = await menu.locator("ul").boundingBox();
  assert.ok(list.x >= 0 && list.x + list.width <= 390, JSON.stringify(list));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  assert.equal(await menu.getAttribute("open"), null);
  assert.equal(await menu.locator("summary").evaluate((e) => e === document.activeElement), true);
}, { hash: "#/profile?v=1&model=nn&tool=overview", context: { viewport: { width: 390, height: 844 } } }));

test("filter and sorting of tables are in the address, and a link restores them", app.page(async (page, url) => {
  await waitForState(page, "done");
  const filter = page.getByLabel("Filter Benchmark results");
  assert.equal(await filter.inputValue(), "models=2");
  const rows = page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr");
  assert.equal(await rows.count(), 2);
  await filter.fill("models=1");
  await page.waitForFunction(() => location.hash.includes("filter=models%3D1") || location.hash.includes("filter=models=1"));
  await page.goto(`${url}?again#/profile?v=1&model=nn&tool=statistics&find=dot&sort=-count`);
  await page.getByRole("table", { name: "Groups" }).waitFor();
  assert.equal(await page.getByLabel("Search Groups").inputValue(), "dot");
  for (const name of await page.getByRole("table", { name: "Groups" }).locator("tbody tr th").allInnerTexts()) assert.match(name, /dot/i);
  await page.getByLabel("Search Groups").fill("add");
  await page.waitForFunction(() => location.hash.includes("find=add"));
}, { hash: "#/benchmark?v=1&model=nn&duration=2&n_models=1,2&workers_per_model=1,2&filter=models%3D2" }));
