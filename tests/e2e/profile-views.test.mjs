// Views of the profile page that a link remembers: groups and their highlight, flame graph, counters, engines, comparison.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, assertAccessible, chooseLevel, chooseTool, download, eventually, openApp, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const TRACE = "hta_amd_mi250_minitoy.json.gz";
const facts = (file) => JSON.parse(readFileSync(`${TRACES}/${file}.facts.json`, "utf8"));
const button = (page, name) => page.getByRole("button", { name, exact: true });
const views = (body, options) => app.page(body, { hash: "#/profile?v=1", ...options });
const query = settledAddress;

async function open(page, ...files) {
  for (const file of files) {
    await page.locator("#open-file").setInputFiles(`${TRACES}/${file}`);
    await page.waitForFunction((name) => document.querySelector(".run-title")?.textContent.includes(name), file);
    await waitForState(page, "done");
  }
}

// A separate page with the address of another one and the same files.
async function elsewhere(page, files, body) {
  const context = await page.context().browser().newContext();
  try {
    const other = await context.newPage();
    await openApp(other, page.url());
    await open(other, ...files);
    await body(other);
  } finally {
    await context.close();
  }
}

// Rectangles of slices in the picture of the timeline that are not dimmed, by area in pixels.
async function lit(page) {
  await page.locator(".export-menu summary, details.export summary, summary:has-text('Export')").first().click();
  const svg = (await download(page, page.locator('button[data-format="svg"]'))).bytes.toString();
  return svg;
}

test("all slices of a group are highlighted and stepped through, whatever makes the group, and a link keeps it", views(async (page) => {
  await open(page, TRACE);
  const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/${TRACE}`))).traceEvents.filter((e) => e.ph === "X");
  const copies = events.filter((e) => e.cat === "gpu_memcpy");
  await chooseTool(page, "statistics");
  await page.getByLabel("Group by").selectOption("category");
  const groups = page.getByRole("table", { name: "Groups" });
  await groups.getByRole("button", { name: "gpu_memcpy", exact: true }).focus();
  await page.keyboard.press("Enter");
  const group = page.getByRole("region", { name: "Selected group" });
  await group.getByRole("button", { name: "Highlight on the timeline" }).click();
  await page.getByText(`${copies.length} found by category`).waitFor();
  const search = page.getByLabel("Search slices");
  const details = page.getByRole("region", { name: "Selected slice" });
  const wanted = [...copies].sort((a, b) => a.ts - b.ts).map((e) => e.name);
  for (const [i, name] of wanted.slice(0, 2).entries()) {
    await search.press("Enter");
    // Both slices may have one name: the number says which of them is shown.
    await page.getByText(new RegExp(`^${i + 1} of ${copies.length}$`)).waitFor();
    await details.getByRole("heading", { name: name.slice(0, 30) }).waitFor();
  }
  await search.press("Shift+Enter");
  await page.getByText(new RegExp(`^1 of ${copies.length}$`)).waitFor();
  await button(page, "Next hit").click();
  await page.getByText(new RegExp(`^2 of ${copies.length}$`)).waitFor();
  await button(page, "Previous hit").click();
  await page.getByText(new RegExp(`^1 of ${copies.length}$`)).waitFor();
  // The picture has fewer colours than without the highlight: everything else is dimmed.
  const colours = (svg) => new Set(svg.match(/fill="#[0-9a-f]{6}"/g)).size;
  const some = colours(await lit(page));
  const asked = await query(page);
  assert.deepEqual([asked.get("q"), asked.get("of")], ["gpu_memcpy", "category"]);
  await elsewhere(page, [TRACE], async (other) => {
    await other.getByText(new RegExp(`of ${copies.length}$`)).waitFor();
  });
  // Typing searches by name again.
  await search.fill("");
  await page.waitForFunction(() => !location.hash.includes("of="));
  assert.ok(colours(await lit(page)) > some);
  // A thread is also a group.
  await chooseTool(page, "statistics");
  await page.getByLabel("Group by").selectOption("thread");
  await chooseLevel(page, "all");
  const busiest = groups.locator("tbody tr").first();
  await busiest.filter({ hasText: "thread 598009" }).waitFor();
  const count = Number(await busiest.locator("td").first().getAttribute("data-value"));
  const thread = events.filter((e) => String(e.tid) === "598009");
  assert.equal(count, thread.length);
  await busiest.getByRole("button").click();
  await group.getByRole("button", { name: "Highlight on the timeline" }).click();
  await page.getByText(`${count} found by thread`).waitFor();
  await assertAccessible(page);
  // The default level is that of device kernels: the spans around them are not counted in either.
  const kernels = events.filter((e) => ["kernel", "gpu_memcpy"].includes(e.cat)).length;
  await chooseTool(page, "statistics");
  await chooseLevel(page, "device kernels");
  const stream = groups.locator("tbody tr").first();
  await stream.filter({ hasText: "stream" }).waitFor();
  assert.equal(Number(await stream.locator("td").first().getAttribute("data-value")), kernels);
  await stream.getByRole("button").click();
  await group.getByRole("button", { name: "Highlight on the timeline" }).click();
  // The slice that was selected before is one of them, so its place among them is shown.
  await page.getByText(new RegExp(`^\\d+ of ${kernels}$`)).waitFor();
  assert.equal((await query(page)).get("of_level"), null);
}));

test("a link with a level that the profile does not have says so", views(async (page) => {
  // The link names its file: it applies to that file alone, and another file opens with its timeline.
  await page.evaluate((file) => { location.hash = `#/profile?file=${file}&tool=statistics&level=kernel`; }, TRACE);
  await open(page, TRACE);
  await page.getByText(/has no level 'kernel'; its levels are .*device kernels.*, all\. device kernels is used/).waitFor();
  assert.equal(await page.getByLabel("Level", { exact: true }).inputValue(), "device kernels");
}));

test("the group of the statistics is in the link", views(async (page) => {
  await open(page, TRACE);
  await chooseTool(page, "statistics");
  await chooseLevel(page, "runtime calls");
  await page.getByRole("table", { name: "Groups" }).getByRole("button", { name: "hipLaunchKernel", exact: true }).click();
  await page.getByText("Durations of 12 slices").waitFor();
  const asked = await query(page);
  assert.deepEqual([asked.get("level"), asked.get("group")], ["runtime calls", "hipLaunchKernel"]);
  await elsewhere(page, [TRACE], async (other) => {
    await other.getByText("Durations of 12 slices").waitFor();
    assert.equal(await other.getByLabel("Level", { exact: true }).inputValue(), "runtime calls");
  });
}));

test("a link keeps the view of the flame graph, the stack it begins with, and the name of a sandwich", views(async (page) => {
  await open(page, TRACE);
  await chooseTool(page, "flame-graph");
  await chooseLevel(page, "all");
  await page.getByLabel("View", { exact: true }).selectOption("by thread");
  const nodes = page.locator(".flame button");
  await nodes.nth(2).waitFor();
  const all = await nodes.count();
  await nodes.nth(2).click();
  // Until its answer is there, the graph of a stack is empty.
  await page.waitForFunction((n) => {
    const shown = document.querySelectorAll(".flame button").length;
    return shown > 0 && shown < n;
  }, all);
  const few = await nodes.count();
  const name = await nodes.first().innerText();
  await query(page);
  await elsewhere(page, [TRACE], async (other) => {
    await other.waitForFunction((n) => document.querySelectorAll(".flame button").length === n, few);
    assert.equal(await other.locator(".flame button").first().innerText(), name);
    assert.equal(await other.getByLabel("View", { exact: true }).inputValue(), "by thread");
  });
  await page.getByLabel("View", { exact: true }).selectOption("sandwich");
  await page.getByLabel("Name", { exact: true }).fill("hipLaunchKernel");
  await page.getByText(/^hipLaunchKernel: 12 slices/).waitFor();
  await query(page);
  await elsewhere(page, [TRACE], async (other) => other.getByText(/^hipLaunchKernel: 12 slices/).waitFor());
}));

test("a link keeps base, time and step of a comparison, and says which file it wants", views(async (page) => {
  const [first, second, third] = ["catapult_simple_trace.json", "speedscope_trace-event_simple.json", TRACE];
  await open(page, first, second, third);
  await chooseTool(page, "compare");
  await page.getByLabel("Base").selectOption(first);
  await page.getByLabel("Time", { exact: true }).selectOption("total");
  await page.getByText(`${third} against ${first} as base`).waitFor();
  const asked = await query(page);
  assert.deepEqual([asked.get("base"), asked.get("time")], [first, "total"]);
  const link = page.url();
  await elsewhere(page, [third], async (other) => {
    await other.getByText(`This link compares with ${first}`).waitFor();
  });
  await page.goto(link);
  await elsewhere(page, [first, second, third], async (other) => {
    await other.getByText(`${third} against ${first} as base`).waitFor();
    assert.equal(await other.getByLabel("Time", { exact: true }).inputValue(), "total");
    // Only the base has A, with 27 µs of self time; the facts have the total time of every operator.
    const row = other.getByRole("table", { name: "Operators compared" }).locator("tbody tr", { has: other.getByText("Long X type", { exact: true }) });
    assert.deepEqual(await row.locator("td").evaluateAll((cells) => cells.slice(0, 1).concat(cells.slice(3, 5)).map((c) => c.dataset.value)), ["gone", "15000", "0"]);
  });
}));

test("counters have statistics over time, a curve, and a link", views(async (page) => {
  await open(page, "catapult_simple_trace.json");
  await chooseTool(page, "counters");
  const rows = page.getByRole("table", { name: "Counters" }).locator("tbody tr");
  await rows.first().waitFor();
  // 10 from 826 µs, 1 from 832, 5 from 839, 1 from 848 and 10 from 854 until the trace ends at 880.
  const held = [[10, 6], [1, 7], [5, 9], [1, 6], [10, 26]];
  const integral = held.reduce((sum, [value, us]) => sum + value * us * 1e-6, 0);
  const cells = await rows.first().locator("td").evaluateAll((all) => all.map((c) => Number(c.dataset.value)));
  assert.deepEqual([cells[0], cells[1], cells[2], cells[4]], [5, 1, 10, 10]);
  assert.ok(Math.abs(cells[5] - integral) < 1e-12, `${cells[5]} is ${integral}`);
  assert.ok(Math.abs(cells[3] - integral / 54e-6) < 1e-9, `mean ${cells[3]}`);
  const chart = page.getByRole("img", { name: /counter/ });
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText(/time \(µs\) 14 to 21, value 1$/).waitFor();
  await rows.first().getByRole("button").click();
  assert.match((await query(page)).get("counter"), /counter/);
  await assertAccessible(page);
  await chooseTool(page, "operator-timeline");
  await page.getByText("Tracks", { exact: true }).click();
  await page.getByLabel("Search tracks").fill("counter");
  await page.locator(".track-list button", { hasText: "Pin" }).first().click();
  const box = await page.getByRole("application", { name: "Timeline" }).boundingBox();
  // A tooltip that is late is seen the next time.
  const values = new Set();
  await eventually(async () => {
    for (let share = 0.15; share < 0.95; share += 0.04) {
      await page.mouse.move(box.x + 176 + (box.width - 176) * share, box.y + 26 + 21 + 30);
      await page.waitForTimeout(60);
      const text = await page.locator(".tip span").first().innerText().catch(() => "");
      if (/^\d+$/.test(text)) values.add(text);
    }
    assert.deepEqual([...values].sort(), ["1", "10", "5"]);
  });
}));

test("counters of one name in two processes are told apart, each is drawn, and the link says which", views(async (page) => {
  const events = [];
  for (const [pid, values] of [[7, [1, 3]], [8, [20, 60]]]) {
    events.push({ ph: "M", pid, name: "process_name", args: { name: "worker" } }, { ph: "X", pid, tid: 1, name: "step", ts: 0, dur: 100 });
    values.forEach((bytes, i) => events.push({ ph: "C", pid, name: "memory", ts: i * 50, args: { bytes } }));
  }
  const file = { name: "two.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(events)) };
  await page.locator("#open-file").setInputFiles(file);
  await waitForState(page, "done");
  await chooseTool(page, "counters");
  const rows = page.getByRole("table", { name: "Counters" }).locator("tbody tr");
  await rows.nth(1).waitFor();
  const names = await rows.locator("th").allInnerTexts();
  assert.deepEqual(names, ["worker (process 7) / memory bytes", "worker (process 8) / memory bytes"]);
  await rows.nth(1).getByRole("button").focus();
  await page.keyboard.press("Enter");
  const chart = page.getByRole("img", { name: /process 8/ });
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText(/time \(µs\) 50( to \d+)?, memory \(B\) 60$/).waitFor();
  assert.equal((await query(page)).get("counter"), names[1]);
}));

test("a profile without counters says so", views(async (page) => {
  await open(page, TRACE);
  const item = page.locator('#rail-tools [data-tool="counters"]');
  assert.equal(await item.getAttribute("aria-disabled"), "true");
  assert.equal(await item.getAttribute("title"), "This profile has no counters.");
  // A link can name the tool all the same.
  await page.evaluate(() => { location.hash = "#/profile?tool=counters"; });
  await page.getByText("No counter has a value here.").waitFor();
}));

test("engines have pies, a treemap and a table, and their instructions are highlighted", views(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await chooseTool(page, "operator-engine");
  const rows = page.getByRole("table", { name: "Groups" }).locator("tbody tr");
  await rows.first().waitFor();
  const names = await rows.locator("th").allInnerTexts();
  assert.ok(names.some((name) => name.includes("NeuronCore engines") && name.includes("Tensor")), names.join());
  assert.equal(await page.locator(".pie .legend").count(), 1);
  assert.ok(await page.locator(".treemap button").count() > 1);
  await assertAccessible(page);
  const count = await rows.first().locator("td").first().getAttribute("data-value");
  await rows.first().getByRole("button").click();
  await button(page, "Highlight on the timeline").click();
  await page.getByText(`${Number(count).toLocaleString("en-US")} found by thread`).waitFor();
}));

test("a trace with thousands of gaps lists them in pages, the longest first", views(async (page) => {
  // 1,600 slices; the gap before the i-th is i ns long.
  let at = 0;
  const events = Array.from({ length: 1601 }, (_, i) => {
    at += i + 10;
    return { ph: "X", pid: 1, tid: 1, name: `op_${i}`, ts: (at - 10) / 1000, dur: 0.01 };
  });
  const buffer = Buffer.from(JSON.stringify(events));
  await page.locator("#open-file").setInputFiles({ name: "gaps.json", mimeType: "application/json", buffer });
  await waitForState(page, "done");
  await chooseTool(page, "idle-gaps");
  await page.getByText("Gaps 1 to 500 of 1,600, the longest first").waitFor();
  const longest = page.getByRole("table", { name: "Idle gaps" }).locator("tbody tr:not(.spacer)").first();
  const duration = () => longest.locator("td").nth(1).getAttribute("data-value");
  assert.equal(await duration(), "1600");
  await button(page, "Shorter gaps").focus();
  await page.keyboard.press("Enter");
  await page.getByText("Gaps 501 to 1,000 of 1,600").waitFor();
  assert.equal(await duration(), "1100");
  await button(page, "Longer gaps").click();
  await page.getByText("Gaps 1 to 500 of 1,600").waitFor();
}));

test("details have everything about a slice: arguments, self time, the slices around it, and links to them", views(async (page) => {
  const file = "viztracer_multithread.json";
  await open(page, file);
  await chooseTool(page, "operator-timeline");
  await page.getByLabel("Search slices").fill("time.sleep");
  await page.getByText(/\d+ found/).waitFor();
  await page.getByLabel("Search slices").press("Enter");
  const details = page.getByRole("region", { name: "Selected slice" });
  await details.getByText("Wall duration").waitFor();
  // The entries of the slices around it lead to those slices.
  const chain = details.getByRole("button").filter({ hasText: "Thread._bootstrap" }).first();
  await chain.click();
  await details.getByRole("heading", { name: /^Thread\._bootstrap/ }).waitFor();
  // Its self time is its duration minus those of the slices directly inside it.
  const events = JSON.parse(readFileSync(`${TRACES}/${file}`, "utf8")).traceEvents.filter((e) => e.ph === "X");
  const ns = (us) => Math.round(us * 1000);
  const all = events.map((e) => ({ ...e, from: ns(e.ts), to: ns(e.ts + e.dur) }));
  const text = await details.innerText();
  const number = (name) => Number(new RegExp(`${name}[^]*?([\\d,]+) ns`).exec(text)[1].replaceAll(",", ""));
  const outer = all.filter((e) => e.name.startsWith("Thread._bootstrap ") && Math.abs(e.to - e.from - number("Wall duration")) <= 1);
  const own = outer.map((e) => {
    const inside = all.filter((o) => o.tid === e.tid && o !== e && e.from <= o.from && o.to <= e.to);
    const direct = inside.filter((o) => !inside.some((p) => p !== o && p.from <= o.from && o.to <= p.to && p.to - p.from > o.to - o.from));
    return e.to - e.from - direct.reduce((sum, o) => sum + o.to - o.from, 0);
  });
  assert.ok(own.some((expected) => Math.abs(expected - number("Self time")) <= 2), `${number("Self time")} of ${own}`);
  const [, count] = facts(file).X_top10_total_ns.find(([name]) => name.startsWith("fib "));
  await page.getByLabel("Search slices").fill("fib (");
  await page.getByText(`${count} found`).waitFor();
}));

test("the ruler counts nanoseconds, and a trackpad pans and zooms", views(async (page) => {
  await open(page, "catapult_nanoseconds.json");
  await chooseTool(page, "operator-timeline");
  const canvas = page.getByRole("application", { name: "Timeline" });
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.keyboard.down("Control");
  for (let i = 0; i < 30; i++) await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  const near = await query(page);
  const [from, to] = [Number(near.get("from")), Number(near.get("to"))];
  assert.ok(to - from < 1000, `${to - from} ns are in view`);
  const svg = await lit(page);
  // From a thousand on, labels are in the next unit, and still distinguish single nanoseconds.
  assert.match(svg, />[\d,]+\.\d{3} \u00b5s</);
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.mouse.wheel(240, 0);
  const right = await query(page);
  assert.ok(Number(right.get("from")) > from, "to the right is later");
  assert.ok(Math.abs(Number(right.get("to")) - Number(right.get("from")) - (to - from)) <= 2);
}));

test("F fits the selection and then everything, ? lists the keys, / searches", views(async (page) => {
  await open(page, TRACE);
  await chooseTool(page, "operator-timeline");
  const canvas = page.getByRole("application", { name: "Timeline" });
  await canvas.focus();
  await page.keyboard.press("/");
  await page.keyboard.type("hipLaunchKernel");
  await page.getByText("12 found").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Wall duration").waitFor();
  const text = await page.getByRole("region", { name: "Selected slice" }).innerText();
  const length = Number(/Wall duration[^]*?([\d,]+) ns/.exec(text)[1].replaceAll(",", ""));
  await canvas.focus();
  await page.keyboard.press("f");
  const fitted = await query(page);
  const span = Number(fitted.get("to")) - Number(fitted.get("from"));
  assert.ok(span >= length && span < 3 * length, `${span} ns for a slice of ${length} ns`);
  await page.keyboard.press("f");
  assert.equal((await query(page)).get("from"), null);
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await keys.waitFor();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "detached" });
}));
