// Features of the timeline around its slices: flows, async spans, counters, marks, areas, tracks, minimap, undo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, download, eventually, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const button = (page, name) => page.getByRole("button", { name, exact: true });
const canvas = (page) => page.getByRole("application", { name: "Timeline" });
const details = (page) => page.getByRole("region", { name: "Selected slice" });
const timeline = (body, options) => app.page(body, { hash: "#/profile?tool=operator-timeline", ...options });

async function run(page) {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await canvas(page).waitFor();
}

async function open(page, file) {
  await page.locator("#open-file").setInputFiles(`${TRACES}/${file}`);
  await waitForState(page, "done");
  await chooseTool(page, "operator-timeline");
  await canvas(page).waitFor();
}

async function find(page, name) {
  await page.getByLabel("Search slices").fill(name);
  await page.getByText(/\d+ found/).waitFor();
  await page.getByLabel("Search slices").press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  await canvas(page).focus();
}

const settled = settledAddress;

test("flow arrows are links in the details, by mouse and by keyboard", timeline(async (page) => {
  await open(page, "hta_amd_mi250_minitoy.json.gz");
  await find(page, "hipLaunchKernel");
  const launch = await details(page).locator("h3").innerText();
  await page.keyboard.press("]");
  await page.waitForFunction((name) => document.querySelector(".details h3").textContent !== name, launch);
  const kernel = await details(page).locator("h3").innerText();
  await page.keyboard.press("[");
  await page.waitForFunction((name) => document.querySelector(".details h3").textContent === name, launch);
  await page.getByRole("button", { name: "Flow", exact: true }).click();
  const flow = page.getByRole("region", { name: "Flow", exact: true });
  await assertAccessible(page);
  await flow.locator("h4", { hasText: "Leads to" }).locator("+ ul button").first().click();
  // A chosen slice is shown with its details.
  await page.waitForFunction((name) => document.querySelector(".details h3").textContent === name, kernel);
  await details(page).getByText("Wall duration").waitFor();
  // The view was zoomed to the hit; all of the profile shows all of the arrows.
  await canvas(page).focus();
  await page.keyboard.press("0");
  await page.getByLabel("All flows").check();
  await page.getByText(/^Flow arrows: \d+$/).waitFor();
  // The file has 20 flows that begin and end.
  assert.equal(await page.getByText(/^Flow arrows: \d+$/).innerText(), "Flow arrows: 20");
}));

test("async spans have rows, and are found and selected", timeline(async (page) => {
  await open(page, "catapult_nestable_async_annotation.json");
  await page.getByText("Slices in view as a table").click();
  const rows = page.getByRole("table", { name: "Slices in view" }).locator("tbody tr");
  // 9 begin events in the file: 9 spans.
  await page.waitForFunction(() => document.querySelectorAll(".twin tbody tr").length === 9);
  assert.match(await rows.first().innerText(), /async: /);
  await rows.first().getByRole("button").click();
  await details(page).getByText("Wall duration").waitFor();
  assert.match(await details(page).innerText(), /async/);
}));

test("counters are areas that show their value", timeline(async (page) => {
  await open(page, "catapult_simple_trace.json");
  await page.getByText("Tracks", { exact: true }).click();
  await page.getByLabel("Search tracks").fill("counter");
  const name = page.locator(".track-list .name").first();
  await name.waitFor();
  await page.locator(".track-list button", { hasText: "Pin" }).first().click();
  const box = await canvas(page).boundingBox();
  // Pinned: the first track below the bar.
  const values = new Set();
  // A tooltip that is late is seen the next time.
  await eventually(async () => {
    for (const share of [0.3, 0.5, 0.7, 0.9]) {
      await page.mouse.move(box.x + 176 + (box.width - 176) * share, box.y + 26 + 21 + 30);
      await page.waitForTimeout(80);
      for (const text of await page.locator(".tip span").allInnerTexts()) values.add(text);
    }
    assert.ok([...values].some((text) => /^[\d.]+$/.test(text)), [...values].join());
  });
}));

test("M makes a range of the selection and a mark elsewhere; both are named, measured, linked and removed", timeline(async (page) => {
  await run(page);
  await canvas(page).focus();
  await page.keyboard.press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  const text = await details(page).innerText();
  const title = await details(page).locator("h3").innerText();
  const length = /Wall duration[^]*?([\d,]+) ns/.exec(text)[1];
  await page.keyboard.press("m");
  const marks = page.getByRole("region", { name: "Marks and ranges", exact: true }).locator("tbody tr");
  await marks.first().waitFor();
  assert.equal(await marks.first().locator("input[type=text]").inputValue(), title);
  assert.equal(await marks.first().locator("td:nth-child(3)").getAttribute("title"), `${length} ns`);
  await page.keyboard.press("Escape");
  await button(page, "Slice").click();
  await details(page).getByText("Nothing selected").waitFor();
  await canvas(page).focus();
  await page.keyboard.press("m");
  await marks.nth(1).waitFor();
  await page.getByLabel(`Measure from ${title}`).check();
  const starts = await marks.locator("td:nth-child(2)").evaluateAll((cells) => cells.map((c) => c.title));
  const from = await marks.locator("td:nth-child(4)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value)));
  const ns = (t) => Number(t.replace(/[^\d]/g, ""));
  const base = (await marks.first().locator("input[type=radio]").isChecked()) ? 0 : 1;
  assert.equal(from[1 - base], ns(starts[1 - base]) - ns(starts[base]));
  await page.getByLabel("Name of mark 2").fill("second");
  const query = await settled(page);
  assert.match(query.get("marks"), /second/);
  await assertAccessible(page);
  await button(page, "Remove second").click();
  await eventually(async () => assert.equal(await marks.count(), 1));
}));

test("a link carries marks and arranged tracks", timeline(async (page) => {
  await run(page);
  await canvas(page).focus();
  await page.keyboard.press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  await page.keyboard.press("m");
  await page.keyboard.press("p");
  const query = await settled(page);
  assert.ok(query.get("pin"));
  const other = await (await page.context().browser().newContext()).newPage();
  await openApp(other, page.url());
  // A link to a simulated run runs by itself.
  await waitForState(other, "done");
  await other.getByRole("region", { name: "Marks and ranges", exact: true }).waitFor();
  assert.equal((await settled(other)).get("pin"), query.get("pin"));
  assert.equal((await settled(other)).get("marks"), query.get("marks"));
  await other.context().close();
}));

test("an area is counted by name, by keyboard and by mouse", timeline(async (page) => {
  await open(page, "catapult_simple_trace.json");
  await canvas(page).focus();
  await page.keyboard.press("r");
  const area = page.getByRole("region", { name: "Selected area", exact: true });
  const table = area.getByRole("table", { name: "Slices of the area by name" });
  await table.waitFor();
  const heads = await table.locator("thead button").allInnerTexts();
  assert.equal(heads.length, 10);
  // 4 X and 8 pairs of B and E in the file, and the two frames of its sample with a stack.
  const counts = await table.locator("tbody tr td:nth-child(2)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value)));
  assert.equal(counts.reduce((a, b) => a + b), 12 + 2);
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await area.waitFor({ state: "detached" });
  const box = await canvas(page).boundingBox();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 300, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 120, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await area.getByText(/ on \d+ tracks/).waitFor();
  const [some] = (await area.getByText(/ on \d+ tracks?/).innerText()).match(/\d+(?= tracks)/);
  await page.mouse.move(box.x + 300, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 9, { steps: 4 });
  await page.mouse.up();
  // Along the ruler it has all tracks.
  await eventually(async () => assert.ok((await area.getByText(/ on \d+ tracks/).innerText()).match(/\d+(?= tracks)/)[0] > some));
  const { name, bytes } = await download(page, area.getByRole("button", { name: "Export as trace" }));
  assert.equal(name, "catapult_simple_trace.area.trace.json");
  const rows = await area.locator("tbody tr").count();
  const names = new Set(JSON.parse(bytes.toString()).traceEvents.filter((e) => e.ph === "X").map((e) => e.name));
  assert.equal(names.size, rows);
  await area.getByRole("button", { name: "Mark it" }).click();
  await page.getByRole("button", { name: "Marks (1)" }).click();
  await page.getByRole("region", { name: "Marks and ranges", exact: true }).waitFor();
}));

test("tracks are pinned, hidden, folded and moved", timeline(async (page) => {
  await run(page);
  await page.getByText("Tracks", { exact: true }).click();
  const hide = page.getByLabel("Hide Process Overview / DMA Busy");
  await hide.click();
  await page.getByText("Tracks (1 hidden)").waitFor();
  assert.equal(await hide.getAttribute("aria-pressed"), "true");
  await page.getByLabel("Pin Process Execution (NeuronDevice 0 NeuronCore 0) / HLO Ops").click();
  await page.getByLabel("Move down Process Overview / Neuron Runtime Setup").click();
  const query = await settled(page);
  assert.ok(query.get("off") && query.get("pin") && query.get("order"));
  await assertAccessible(page);
  await button(page, "Reset").click();
  assert.equal((await settled(page)).get("off"), null);
}));

test("a track is moved by dragging its name and by Alt with an arrow; the order is in the link", timeline(async (page) => {
  await run(page);
  const box = await canvas(page).boundingBox();
  // Ruler, bar, then the first three tracks of a row each.
  const row = (n) => box.y + 26 + 21 + 19 * n + 9;
  await page.mouse.move(box.x + 40, row(0));
  await page.mouse.down();
  await page.mouse.move(box.x + 40, row(2), { steps: 6 });
  await page.mouse.up();
  await page.waitForFunction(() => /order=1\.2\.0/.test(location.hash));
  // A press that does not move still folds and opens a track.
  await page.mouse.click(box.x + 40, row(0));
  await page.waitForFunction(() => /fold=/.test(location.hash));
  await page.mouse.click(box.x + 40, row(0));
  await page.waitForFunction(() => !/fold=/.test(location.hash));
  await find(page, "Neuron Runtime Setup");
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(() => /order=1\.0\.2/.test(location.hash));
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(() => /order=0\.1\.2/.test(location.hash));
}));

test("a timeline opens where most happens; all of it is a key away, and Back is the view before it", timeline(async (page) => {
  // 300 us of work that begins 1 ms after the start, and a last slice 100 ms later.
  const slice = (ts, dur, name) => ({ ph: "X", pid: 1, tid: 1, ts, dur, name });
  const work = Array.from({ length: 300 }, (_, i) => slice(1000 + i, 0.9, `work ${i % 7}`));
  const traceEvents = [slice(0, 0.1, "begin"), ...work, slice(100_000, 0.1, "end")];
  await page.locator("#open-file").setInputFiles({ name: "sparse.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ traceEvents })) });
  await waitForState(page, "done");
  // The overview is an entry of the history once the address names it.
  await page.waitForFunction(() => /tool=overview/.test(location.hash));
  await chooseTool(page, "operator-timeline");
  await canvas(page).waitFor();
  await page.waitForFunction(() => /&from=/.test(location.hash));
  const query = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  assert.ok(from > 500_000 && from <= 1_000_000 && to >= 1_290_000 && to < 2_000_000, `${from} to ${to} ns`);
  await canvas(page).focus();
  await page.keyboard.press("0");
  await page.waitForFunction(() => !/&from=/.test(location.hash));
  await page.goBack();
  await page.waitForFunction(() => /&from=/.test(location.hash));
  await settled(page);
  await page.goBack();
  await page.locator('.workspace-view[data-view="overview"]').waitFor();
}));

test("a hit of the search that is too small to be seen is zoomed to", timeline(async (page) => {
  await open(page, "hta_amd_mi250_minitoy.json.gz");
  await page.getByLabel("Search slices").fill("hipLaunchKernel");
  await page.getByText(/\d+ found/).waitFor();
  await page.getByLabel("Search slices").press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  const query = await settled(page);
  const length = Number(/Wall duration[^]*?([\d,]+) ns/.exec(await details(page).innerText())[1].replaceAll(",", ""));
  const seen = Number(query.get("to")) - Number(query.get("from"));
  assert.ok(seen <= length * 9 + 100, `${seen} ns are seen around ${length} ns`);
}));

test("the tooltip follows the zoom", timeline(async (page) => {
  await run(page);
  await canvas(page).focus();
  const box = await canvas(page).boundingBox();
  await page.mouse.move(box.x + 400, box.y + 26 + 21 + 19 * 2 + 9);
  for (let i = 0; i < 20; i++) await page.keyboard.press("w");
  await settled(page);
  // The tip names the slice under the pointer now, or there is none.
  const shown = await page.locator(".tip strong").allInnerTexts();
  await page.mouse.move(box.x + 401, box.y + 26 + 21 + 19 * 2 + 9);
  await page.waitForFunction((shown) => JSON.stringify([...document.querySelectorAll(".tip strong")].map((e) => e.textContent)) === JSON.stringify(shown), shown);
}));

test("zooming is undone and redone", timeline(async (page) => {
  await run(page);
  await canvas(page).focus();
  const states = [];
  for (const key of ["w", "w", "d"]) {
    await page.keyboard.press(key);
    states.push((await settled(page)).get("from"));
  }
  await page.keyboard.press("Control+z");
  assert.equal((await settled(page)).get("from"), states[1]);
  await page.keyboard.press("Control+z");
  assert.equal((await settled(page)).get("from"), states[0]);
  await page.keyboard.press("Control+y");
  assert.equal((await settled(page)).get("from"), states[1]);
  await button(page, "Redo zoom").click();
  assert.equal((await settled(page)).get("from"), states[2]);
}));

test("the minimap shows where the screen is and moves it", timeline(async (page) => {
  await run(page);
  await canvas(page).focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press("w");
  await settled(page);
  const window = page.locator(".minimap .window");
  const width = await window.evaluate((e) => parseFloat(e.style.width));
  assert.ok(width < 30, `${width} %`);
  const box = await page.locator(".minimap").boundingBox();
  await page.mouse.click(box.x + box.width * 0.8, box.y + 10);
  await settled(page);
  const left = await window.evaluate((e) => parseFloat(e.style.left));
  assert.ok(Math.abs(left + width / 2 - 80) < 1.5, `${left} %`);
}));

test("a phone in the dark has all of it", timeline(async (page) => {
  await run(page);
  await canvas(page).focus();
  await page.keyboard.press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  await page.keyboard.press("m");
  await page.keyboard.press("r");
  await page.getByText("Tracks", { exact: true }).click();
  await page.getByRole("table", { name: "Slices of the area by name" }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0, "nothing overflows to the side");
  await assertAccessible(page);
}, { context: { viewport: { width: 360, height: 780 }, colorScheme: "dark" } }));

test("fingers: one pans and taps, two zoom around what is under them", timeline(async (page) => {
  await open(page, "hta_amd_mi250_minitoy.json.gz");
  const client = await page.context().newCDPSession(page);
  await canvas(page).scrollIntoViewIfNeeded();
  const box = await canvas(page).boundingBox();
  const send = (type, ...points) => client.send("Input.dispatchTouchEvent", {
    type, touchPoints: points.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })),
  });
  const view = async () => {
    const query = await settled(page);
    return [Number(query.get("from")), Number(query.get("to"))];
  };
  // From 100 px apart to 200 px: half the span is left, and the middle stays.
  await send("touchStart", [250, 60], [350, 60]);
  for (let i = 1; i <= 5; i++) await send("touchMove", [250 - i * 10, 60], [350 + i * 10, 60]);
  await send("touchEnd");
  const [from, to] = await view();
  const facts = 10_156_947;
  assert.ok(Math.abs((to - from) / (facts * 1.04) - 0.5) < 0.06, `${to - from} of ${facts} ns are in view`);
  // One finger to the left shows later times.
  await send("touchStart", [350, 60]);
  for (let i = 1; i <= 6; i++) await send("touchMove", [350 - i * 15, 60]);
  await send("touchEnd");
  const [later, end] = await view();
  assert.ok(later > from, `${later} is after ${from}`);
  assert.ok(Math.abs(end - later - (to - from)) <= 2, "the span stays");
}, { context: { viewport: { width: 390, height: 780 }, hasTouch: true } }));
