// The profile page: run a model, read its operators and its timeline, open traces.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, countEachName, download, menuEntry, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const button = (page, name) => page.getByRole("button", { name, exact: true });
const canvas = (page) => page.getByRole("application", { name: "Timeline" });

async function run(page) {
  await button(page, "Run").click();
  await waitForState(page, "done");
}

const span = async (page) => {
  const query = await settledAddress(page);
  return query.has("from") ? Number(query.get("to")) - Number(query.get("from")) : undefined;
};

const profile = (body, options) => app.page(body, { hash: "#/profile?tool=operator-timeline", ...options });

test("both operator views have pies with a legend and the plugin's columns", profile(async (page) => {
  await run(page);
  for (const [tool, table, first] of [
    ["operator-framework", "Framework operators", "aten__addmm_dot"],
    ["operator-hlo", "HLO operators", "dot"],
  ]) {
    await chooseTool(page, tool);
    const rows = page.getByRole("table", { name: table });
    await rows.waitFor();
    const heads = (await rows.locator("thead th").allInnerTexts()).map((t) => t.replace(/[^\w()% ]/g, "").trim());
    assert.deepEqual(heads, ["Op Name", "Occurrences", "Neuron Device", "NeuronCore", "Time (ns)", "Time %"]);
    assert.equal(await rows.locator("tbody tr").count(), 3);
    const shares = await rows.locator("tbody td:last-child").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value)));
    assert.deepEqual(shares, [...shares].sort((a, b) => b - a), "most time first");
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 1e-6);
    assert.equal(await page.locator(".pie .legend").count(), 1);
    assert.ok((await page.locator(".pie .legend").innerText()).includes(first));
    await assertAccessible(page);
  }
}));

test("the timeline is walked with the keyboard, and says where it is", profile(async (page) => {
  await run(page);
  await canvas(page).focus();
  // It opens where most of its work is; 0 shows all of it.
  await page.keyboard.press("0");
  assert.equal(await span(page), undefined);
  await page.keyboard.press("w");
  const closer = await span(page);
  await page.keyboard.press("w");
  const closest = await span(page);
  assert.ok(closest < closer);
  await page.keyboard.press("0");
  assert.equal(await span(page), undefined);
  await page.keyboard.press("Enter");
  const details = page.getByRole("region", { name: "Selected slice" });
  await details.getByText("Wall duration").waitFor();
  const first = await details.innerText();
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction((before) => document.querySelector(".details").innerText !== before, first);
  assert.match(await page.locator("#timeline-said").innerText(), /starts at [\d,]+ ns, lasts [\d,]+ ns/);
  await page.keyboard.press("Escape");
  await details.getByText("Nothing selected").waitFor();
  await assertAccessible(page);
}));

test("search goes from hit to hit, and a fused operator lists its members", profile(async (page) => {
  await run(page);
  await canvas(page).focus();
  await page.keyboard.press("/");
  await page.keyboard.type("fused_");
  await page.getByText(/\d+ found/).waitFor();
  await page.keyboard.press("Enter");
  const details = page.getByRole("region", { name: "Selected slice" });
  await details.getByText(/Fused members \(\d+\)/).waitFor();
  assert.ok((await details.locator(".members-list li").allInnerTexts()).some((t) => t.startsWith("NN[model]")));
  await page.getByText(/^1 of \d+$/).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText(/^2 of \d+$/).waitFor();
}));

test("wheel, drag and a click reach the slices", profile(async (page) => {
  await run(page);
  const box = await canvas(page).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  // Without Ctrl the wheel scrolls if the timeline is taller than its window.
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  const zoomed = await span(page);
  assert.ok(zoomed > 0, `${zoomed} ns are in view`);
  const before = new URL(page.url()).hash;
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 80, box.y + 60, { steps: 4 });
  await page.mouse.up();
  // Panning keeps the span; the address holds both ends as whole nanoseconds, so it may differ by one.
  assert.ok(Math.abs((await span(page)) - zoomed) <= 1);
  assert.notEqual(new URL(page.url()).hash, before);
}));

test("a link runs by itself and brings back tool, span and selection", profile(async (page) => {
  await run(page);
  await canvas(page).focus();
  await page.keyboard.press("w");
  await page.keyboard.press("Enter");
  await page.getByText("Wall duration").waitFor();
  const wanted = await span(page);
  const title = await page.locator(".details h3").innerText();
  const other = await (await page.context().browser().newContext()).newPage();
  await openApp(other, page.url());
  await waitForState(other, "done");
  await other.getByText("Wall duration").waitFor();
  assert.equal(await other.locator(".details h3").innerText(), title);
  assert.equal(await span(other), wanted);
  await other.context().close();
}));

test("a trace dropped on the benchmark page opens with its overview", app.page(async (page) => {
  const name = "catapult_simple_trace.json";
  const text = readFileSync(`${TRACES}/${name}`, "utf8");
  const transfer = await page.evaluateHandle(([content, file]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], file, { type: "application/json" }));
    return data;
  }, [text, name]);
  for (const type of ["dragenter", "dragover", "drop"]) await page.dispatchEvent("main", type, { dataTransfer: transfer });
  await waitForState(page, "done");
  await page.getByRole("heading", { name: "What to look at first" }).waitFor();
  await page.waitForURL(/#\/profile\?v=1&file=catapult_simple_trace\.json/);
  await chooseTool(page, "operator-timeline");
  await canvas(page).waitFor();
  await page.getByText("Slices in view as a table").click();
  const lines = page.getByRole("table", { name: "Slices in view" });
  await lines.locator("tbody tr").first().waitFor();
  await chooseTool(page, "operator-framework");
  await page.getByRole("table", { name: "Operators" }).waitFor();
  await assertAccessible(page);
}));

test("a compressed trace opens through the file input; a file that is not a trace is refused by name", profile(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}/catapult_simple_trace_gz.gz`);
  await waitForState(page, "done");
  await chooseTool(page, "operator-timeline");
  await canvas(page).waitFor();
  await page.locator("#open-file").setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 0]) });
  await waitForState(page, "failed");
  await page.getByRole("alert").filter({ hasText: "photo.png" }).waitFor();
  // The profile that was open before is one button away; its figures do not stand below the error of another file.
  assert.equal(await canvas(page).isVisible(), false);
  await page.getByRole("button", { name: "Show catapult_simple_trace_gz.gz again" }).click();
  assert.equal(await canvas(page).isVisible(), true);
}));

test("a file is said to be read before its first byte has come; one that is refused leaves the open profile", app.page(async (page) => {
  // From now on no byte of a file comes before it is let go.
  const hold = () => page.evaluate(() => {
    const held = new Promise((go) => { window.letGo = go; });
    const read = (window.readBytes ??= Blob.prototype.arrayBuffer);
    Blob.prototype.arrayBuffer = async function () {
      await held;
      return read.call(this);
    };
  });
  const letGo = () => page.evaluate(() => window.letGo());
  const reading = (name) => page.getByRole("status").filter({ hasText: `Reading ${name}` });

  await hold();
  await page.locator("#open-file").setInputFiles(`${TRACES}/catapult_simple_trace.json`);
  await reading("catapult_simple_trace.json").waitFor();
  await assertAccessible(page);
  await letGo();
  await page.getByRole("heading", { name: "What to look at first" }).waitFor();
  await waitForState(page, "done");
  await chooseTool(page, "operator-timeline");

  await hold();
  await page.locator("#open-file").setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 0]) });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "running");
  await reading("photo.png").waitFor();
  assert.equal(await canvas(page).isVisible(), true);
  await letGo();
  await waitForState(page, "failed");
  await page.getByRole("alert").filter({ hasText: "photo.png" }).waitFor();
  assert.equal(await reading("photo.png").count(), 0);
  await page.getByRole("button", { name: "Show catapult_simple_trace.json again" }).click();
  assert.equal(await canvas(page).isVisible(), true);
}));

test("the timeline is saved as Chrome JSON and opens again", profile(async (page) => {
  await run(page);
  const saved = await download(page, await menuEntry(page, "Download JSON"));
  const { traceEvents } = JSON.parse(saved.bytes.toString());
  assert.ok(traceEvents.some((e) => e.name === "NN[model]"));
  await page.locator("#open-file").setInputFiles({ name: "again.json", mimeType: "application/json", buffer: saved.bytes });
  await page.waitForFunction(() => document.querySelector(".run-title")?.textContent.includes("again.json"));
}));

for (const [name, viewport, colorScheme] of [["phone, dark", { width: 360, height: 780 }, "dark"], ["4K, light", { width: 3840, height: 2160 }, "light"]]) {
  test(`nothing overflows and axe is content: ${name}`, profile(async (page, url) => {
    await run(page);
    for (const hash of ["#/profile?tool=operator-timeline", "#/benchmark"]) {
      await page.evaluate((h) => { location.hash = h; }, hash);
      await page.locator("main:not([data-early], [data-example]) h1").first().waitFor();
      await settledAddress(page);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${hash} overflows`);
      await assertAccessible(page);
    }
    assert.ok(url);
  }, { context: { viewport, colorScheme } }));
}

test("a selected instant is found and brought into sight", profile(async (page) => {
  const events = [{ ph: "X", pid: 1, tid: 1, name: "first", ts: 0, dur: 1 }];
  // So many rows that the last is below the canvas.
  for (let tid = 2; tid < 80; tid++) events.push({ ph: "X", pid: 1, tid, name: `work ${tid}`, ts: tid, dur: 5 });
  events.push({ ph: "i", s: "t", pid: 1, tid: 79, name: "checkpoint", ts: 90 });
  const buffer = Buffer.from(JSON.stringify({ traceEvents: events }));
  await page.locator("#open-file").setInputFiles({ name: "instants.json", mimeType: "application/json", buffer });
  await waitForState(page, "done");
  await chooseTool(page, "operator-timeline");
  await canvas(page).waitFor();
  const before = await page.locator(".timeline-scroll").evaluate((e) => e.scrollTop);
  await settledAddress(page);
  // Slices are numbered first, then instants.
  await page.evaluate((slice) => { location.hash += `&sel=${slice}`; }, events.length - 1);
  const details = page.getByRole("region", { name: "Selected slice" });
  await details.getByText("checkpoint").waitFor();
  assert.match(await details.innerText(), /Process 1 \/ Thread 79: instants/);
  await page.waitForFunction((top) => document.querySelector(".timeline-scroll").scrollTop > top, before);
}));

test("operators of any trace are counted in all of it or in the span in view", profile(async (page) => {
  const events = Array.from({ length: 10 }, (_, i) => ({ ph: "X", pid: 1, tid: 1, name: `op_${i}`, ts: i * 10, dur: 5 }));
  const buffer = Buffer.from(JSON.stringify(events));
  await page.locator("#open-file").setInputFiles({ name: "ten.json", mimeType: "application/json", buffer });
  await waitForState(page, "done");
  await chooseTool(page, "operator-timeline");
  await canvas(page).focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("w");
  await span(page);
  const query = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const expected = events.filter((e) => e.ts * 1000 < to && (e.ts + e.dur) * 1000 > from).map((e) => e.name);
  assert.ok(expected.length > 0 && expected.length < 10);
  await chooseTool(page, "operator-framework");
  const names = page.getByRole("table", { name: "Operators" }).locator("tbody tr > :first-child");
  await countEachName(page);
  await names.nth(9).waitFor();
  await page.getByLabel(/^In view on the timeline/).check();
  await page.waitForFunction((n) => document.querySelectorAll("main table tbody tr").length === n, expected.length);
  assert.deepEqual((await names.allInnerTexts()).map((t) => t.trim()).sort(), expected);
  await page.waitForURL(/range=view/);
  const csv = await download(page, await menuEntry(page, "Download CSV"));
  assert.equal(csv.bytes.toString().trim().split("\n").length, expected.length + 1);
  await assertAccessible(page);
  await page.getByLabel("All of the profile").check();
  await names.nth(9).waitFor();
}));
