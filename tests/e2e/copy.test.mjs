// The copy menu on each view: links, commands that give the same result, tables as Markdown, pictures.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { appFixture, assertAccessible, chooseTool, copyMenu, download, eventually, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const context = { permissions: ["clipboard-read", "clipboard-write"] };
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const said = (page, text) => page.locator(".notice").filter({ hasText: text }).first().waitFor();

// The output of the command line for a command that the page copied.
function run(line, more) {
  assert.ok(process.env.NEURONSCOPE_CLI, "NEURONSCOPE_CLI must name the command line: run ./x test");
  const script = `${line.replace(/^neuronscope /, '"$NEURONSCOPE_CLI" ')} ${more}`;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

async function copied(page, kind, index = 0, name = "") {
  // The next notice belongs to this copy.
  await page.evaluate(() => document.querySelectorAll(".notice button").forEach((button) => button.click()));
  await page.waitForFunction(() => !document.querySelector(".notice"));
  const menu = await copyMenu(page);
  await menu.locator(`[data-copy="${kind}"]`).filter({ hasText: name }).nth(index).click();
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
  // The list of configurations is a table too.
  await copied(page, "markdown", 0, "Benchmark results");
  const lines = (await clipboard(page)).trimEnd().split("\n");
  assert.equal(lines.length, reports.length + 2);
  assert.match(lines[1], /^\|( -{3}:? \|)+$/);
  const head = await page.getByRole("table", { name: "Benchmark results" }).locator("thead th").evaluateAll((all) => all.filter((th) => th.querySelector("button")).map((th) => [...th.querySelector("button").childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent).join("")));
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
    Document.prototype.execCommand = () => false;
  },
}));

// For `init`: a clipboard that never answers.
const neverAnswers = () => {
  if (!window.Clipboard) return;
  for (const name of ["write", "writeText"]) Clipboard.prototype[name] = () => new Promise(() => {});
};

test("a clipboard that never answers: the text is copied the older way, the focus stays, a picture is saved", app.page(async (page) => {
  await waitForState(page, "done");
  await copied(page, "command");
  assert.match(await clipboard(page), /^neuronscope bench --model nn/);
  assert.ok(await page.evaluate(() => document.activeElement.matches("details.menu summary")));
  assert.equal(await page.locator(".copy-field").count(), 0);
  await copied(page, "link");
  assert.match(await clipboard(page), /#\/benchmark\?v=1&model=nn/);
  const menu = await copyMenu(page);
  assert.match((await download(page, menu.locator('[data-copy="image"]').first())).name, /\.png$/);
}, { hash: "#/benchmark?v=1&model=nn&duration=2&n_models=1", context, init: neverAnswers }));

test("a browser in which nothing copies shows the link", app.page(async (page) => {
  await waitForState(page, "done");
  await page.evaluate(() => { Document.prototype.execCommand = () => false; });
  await (await copyMenu(page)).locator('[data-copy="link"]').click();
  await said(page, /^Nothing was copied \(the clipboard does not answer\)\. The link is:\s+http.*#\/benchmark\?v=1&model=nn/);
}, { hash: "#/benchmark?v=1&model=nn&duration=2&n_models=1", init: neverAnswers }));

test("an entry of the menu stays the same element while the menu finds more entries", app.page(async (page) => {
  await waitForState(page, "done");
  const kinds = await page.evaluate(async () => {
    const link = document.querySelector('[data-copy="link"]');
    link.closest("details").open = true;
    while (!document.querySelector('[data-copy="markdown"]')) await new Promise(requestAnimationFrame);
    return [link.isConnected, link.dataset.copy, link.innerText];
  });
  assert.deepEqual(kinds, [true, "link", "Copy link"]);
}, { hash: "#/matmult?v=1&matrix_dim=128" }));

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

// Runs in the page: the size of the picture in the clipboard, and how much of it has each of the given colours.
async function pictured(colours) {
  const [item] = await navigator.clipboard.read();
  const bitmap = await createImageBitmap(await item.getType("image/png"));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const probe = document.createElement("canvas").getContext("2d");
  const counts = colours.map((colour) => {
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 6) count++;
    return count;
  });
  return { width: bitmap.width, height: bitmap.height, counts };
}

/** Copies the chart with a title, and returns its picture. */
async function picture(page, title, colours) {
  await page.evaluate(() => document.querySelectorAll(".notice button").forEach((close) => close.click()));
  const menu = await copyMenu(page);
  await menu.locator('[data-copy="image"]').filter({ hasText: title }).first().click();
  await said(page, "The picture is in the clipboard");
  return page.evaluate(pictured, colours);
}

test("bars are a picture: each bar as long as on the page, with its words", app.page(async (page) => {
  await waitForState(page, "done");
  const bars = await page.locator("figure.bars .track > span").evaluateAll((all) => all.map((bar) => {
    const { width, height } = bar.getBoundingClientRect();
    return { colour: getComputedStyle(bar).backgroundColor, pixels: width * height * 4 };
  }));
  const colour = bars[0].colour;
  const expected = bars.filter((bar) => bar.colour === colour).reduce((sum, bar) => sum + bar.pixels, 0);
  const text = await page.evaluate(() => getComputedStyle(document.querySelector("figure.bars li > span")).color);
  const { width, counts } = await picture(page, "Throughput by configuration", [colour, text]);
  const figure = await page.locator("figure.bars ul").evaluate((list) => list.getBoundingClientRect().width);
  assert.ok(Math.abs(width - 2 * (figure + 32)) < 4, `${width} of ${figure}`);
  assert.ok(Math.abs(counts[0] - expected) < expected * 0.1, `${counts[0]} pixels of bars, ${expected} on the page`);
  assert.ok(counts[1] > 200, "there are words");
}, { hash: "#/benchmark?v=1&model=nn&duration=2&n_models=1,2&workers_per_model=1", context }));

test("a heat map, columns, areas and a flame graph are pictures", app.page(async (page, url) => {
  await waitForState(page, "done");
  const cell = await page.locator(".heat-map td").first().evaluate((td) => ({ ...td.getBoundingClientRect().toJSON(), colour: getComputedStyle(td).backgroundColor }));
  const { counts } = await picture(page, await page.locator(".heat-map figcaption").first().evaluate((caption) => caption.firstChild.textContent), [cell.colour]);
  assert.ok(counts[0] > cell.width * cell.height * 2, `${counts[0]} pixels of the first cell's ${cell.width} x ${cell.height}`);
  await openApp(page, `${url}?profile#/profile?v=1&model=nn&tool=statistics`);
  await waitForState(page, "done");
  for (const [tool, figure] of [["statistics", "figure.treemap"], ["flame-graph", "figure.flame"], ["overview", "figure.shares"]]) {
    await chooseTool(page, tool);
    await page.locator(figure).first().waitFor();
    const box = page.locator(`${figure} :is(button, .parts span)`).first();
    const { colour, size } = await box.evaluate((part) => ({ colour: getComputedStyle(part).backgroundColor, size: part.getBoundingClientRect().width * part.getBoundingClientRect().height }));
    const title = await page.locator(`${figure} figcaption`).first().evaluate((caption) => caption.firstChild.textContent);
    const found = await picture(page, title, [colour]);
    assert.ok(found.counts[0] > size * 2, `${tool}: ${found.counts[0]} pixels of ${size}`);
  }
}, { hash: "#/matmult?v=1&matrix_dim=256,512&batch_size=1,8", context }));

test("the picture of a chart names its subject, its date and its address, as PNG and as SVG", app.page(async (page) => {
  await waitForState(page, "done");
  await eventually(async () => assert.ok(await page.locator("figure.scatter polyline.line").count() > 1));
  const entry = (await copyMenu(page)).locator("li", { hasText: "Cost over latency" });
  const { name, bytes } = await download(page, entry.locator('[data-copy="svg"]'));
  assert.equal(name, "bert-base-uncased--Cost-over-latency.svg");
  const svg = await page.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const texts = [...root.querySelectorAll("text")].map((node) => node.textContent);
    return { isRead: root.localName === "svg", texts, link: root.querySelector("a")?.getAttribute("href"), areas: root.querySelectorAll("polygon.band").length };
  }, new TextDecoder().decode(bytes));
  assert.ok(svg.isRead && svg.areas > 1, JSON.stringify(svg));
  assert.equal(svg.texts[0], "bert-base-uncased: Cost over latency");
  for (const text of ["inf2.xlarge", "trn1.2xlarge", "Published by AWS", "the interval of a device", "at most 8.00"]) assert.ok(svg.texts.includes(text), text);
  assert.match(svg.texts.at(-2), /^Simulated, not measured\. neuronscope \d+\.\d+\.\d+.*, 20\d\d-\d\d-\d\d/);
  assert.equal(svg.link, await page.evaluate(() => location.href));
  // The legend is as it is on the page: a coloured sample before each name.
  const hues = await page.evaluate(() => ["--hue-blue", "--hue-orange"].map((hue) => getComputedStyle(document.documentElement).getPropertyValue(hue).trim()));
  const { height, counts } = await picture(page, "Cost over latency", hues);
  assert.ok(height > 600 && counts.every((count) => count > 300), `${height}: ${counts}`);
}, { hash: "#/benchmark?v=1&model=bert-base-uncased&instance=inf2.xlarge,inf2.8xlarge,trn1.2xlarge&batch_sizes=1,4,8&n_models=2&duration=2&p99_at_most=8", context }));
