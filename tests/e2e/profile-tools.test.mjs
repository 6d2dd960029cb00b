// Tools of the profile page for any trace: statistics, flame graph, modules, comparison, queries.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, assertAccessible, chooseLevel, chooseTool, countAllSlices, download, editRun, eventually, settledAddress, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const TRACE = "hta_amd_mi250_minitoy.json.gz";
const button = (page, name) => page.getByRole("button", { name, exact: true });
const tools = (body, options) => app.page(body, { hash: "#/profile?v=1", ...options });

async function open(page, file, tool) {
  await page.locator("#open-file").setInputFiles(`${TRACES}/${file}`);
  await waitForState(page, "done");
  await chooseTool(page, tool);
  await countAllSlices(page);
}

test("the overview of a model is there before what its limits cost", tools(async (page) => {
  await page.evaluate(() => {
    window.wasOpen = false;
    const look = () => { window.wasOpen ||= document.querySelector(".workspace-view")?.textContent.includes("being computed"); };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    location.hash = "#/profile?model=bert-large-uncased";
  });
  await page.waitForFunction(() => window.wasOpen && !document.body.textContent.includes("being computed"));
  await page.getByText(/limits the execution/).first().waitFor();
}));

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
  // Its slices are listed, and add up to its total time in the facts.
  await group.getByText(`Its ${counts[0]} slices`).click();
  const members = group.getByRole("table", { name: "Slices of the group" });
  const times = await members.locator("tbody td:nth-child(4)").evaluateAll((cells) => cells.map((c) => Number(c.dataset.value)));
  // Slices that only wrap others never lead a list, however long they are.
  const wrappers = facts.X_top10_total_ns.map(([known]) => known).filter((known) => /^(ProfilerStep#\d+|PyTorch Profiler \(\d+\))$/.test(known));
  assert.equal(wrappers.length, 2);
  const work = facts.X_top10_total_ns.filter(([known]) => !wrappers.includes(known));
  assert.deepEqual([name, times.length, times.reduce((a, b) => a + b)], work[0]);
  const names = await rows.locator("th").allInnerTexts();
  const after = names.indexOf("hipGetDevicePropertiesR0600");
  for (const wrapper of wrappers) assert.ok(names.indexOf(wrapper) > after && after > 0, `${wrapper} of ${names.join()}`);
  await assertAccessible(page);
  // A tile of the treemap also chooses its group.
  await page.locator(".treemap button", { hasText: "hipLaunchKernel" }).first().focus();
  await page.keyboard.press("Enter");
  await group.getByText("Durations of 12 slices").waitFor();
  await rows.first().locator("th button").click();
  await group.getByRole("heading", { name }).waitFor();
  await group.getByRole("button", { name: "Highlight on the timeline" }).click();
  await eventually(async () => assert.equal(await page.getByLabel("Search slices").inputValue(), name));
}));

test("instances of an operation count together in every tool, each by itself when wanted, and a link keeps it", tools(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}/kineto_resnet50_workers0_a.json.gz`);
  await waitForState(page, "done");
  await chooseTool(page, "operator-framework");
  const first = page.getByRole("table", { name: "Operators" }).locator("tbody tr").first().locator("th button");
  await eventually(async () => assert.equal(await first.innerText(), "vectorized_elementwise_kernel"));
  await chooseTool(page, "flame-graph");
  await page.locator(".flame button", { hasText: /^vectorized_elementwise_kernel$/ }).waitFor();
  await page.getByLabel("Merge instances").uncheck();
  await page.locator(".flame button", { hasText: "dgrad_engine\u2039512, 6, 5\u203a" }).waitFor();
  await page.waitForFunction(() => location.hash.includes("instances=each"));
  await chooseTool(page, "operator-framework");
  await eventually(async () => assert.equal(await first.innerText(), "dgrad_engine\u2039512, 6, 5\u203a"));
  assert.match(await first.getAttribute("title"), /^void cudnn::.*dgrad_engine<float, 512, 6, 5/);
  await assertAccessible(page);
}));

test("a search on the timeline leaves the table of operators whole", tools(async (page) => {
  await open(page, TRACE, "operator-timeline");
  await page.getByLabel("Search slices").fill("hipLaunchKernel");
  await page.getByText("12 found").waitFor();
  await chooseTool(page, "operator-framework");
  const rows = page.getByRole("table", { name: "Operators" }).locator("tbody tr");
  await eventually(async () => assert.ok((await rows.count()) > 3));
  assert.doesNotMatch(page.url(), /find=/);
}));

test("memory of a device: its peak, who allocates, what a step leaves behind", tools(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}/tracelens_bert_small_mi300.json.gz`);
  await waitForState(page, "done");
  await chooseTool(page, "counters");
  const cells = async (name) => page.getByRole("table", { name }).locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((c) => c.dataset.value ?? c.innerText)));
  await page.getByRole("table", { name: "Memory of devices" }).waitFor();
  const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/tracelens_bert_small_mi300.json.gz`))).traceEvents;
  const ofGpu = events.filter((e) => e.name === "[memory]" && e.args["Device Id"] === 0).map((e) => e.args);
  const gpu = (await cells("Memory of devices")).find(([device]) => device === "HIP 0");
  assert.equal(Number(gpu[2]), Math.max(...ofGpu.map((a) => a["Total Allocated"])));
  const sum = ofGpu.filter((a) => a.Bytes > 0).reduce((all, a) => all + a.Bytes, 0);
  const operators = (await cells("Allocations by operator")).filter(([, device]) => device === "HIP 0");
  assert.equal(operators.reduce((all, row) => all + Number(row[5]), 0), sum);
  assert.equal((await cells("Memory that each step leaves behind")).filter(([, device]) => device === "HIP 0").length, 1);
  await assertAccessible(page);
}));

test("a query is answered as a table, by keyboard, and a mistake says where it is", tools(async (page) => {
  await open(page, "catapult_simple_trace.json", "ask");
  await page.getByRole("textbox", { name: "Query" }).fill("select count");
  await page.keyboard.press("Enter");
  const answer = page.getByRole("table", { name: "Answer" });
  await answer.waitFor();
  // 4 X and 8 pairs of B and E in the file.
  assert.equal(await answer.locator("tbody tr th").innerText(), "12");
  const saved = await download(page, button(page, "Download Answer as CSV"));
  assert.equal(saved.bytes.toString(), "count\n12\n");
  await page.getByRole("textbox", { name: "Query" }).fill("where colour = red");
  await page.keyboard.press("Enter");
  await page.getByText(/column 7: there is no column 'colour'/).waitFor();
  await assertAccessible(page);
}));

// Work of the device in the file, in whole nanoseconds, and the longest stretch without any.
function deviceWork() {
  const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/${TRACE}`))).traceEvents;
  const ns = (us) => Math.round((us - events.find((e) => e.ph === "X").ts) * 1000);
  const work = events.filter((e) => e.cat === "kernel" || e.cat === "gpu_memcpy").map((e) => [ns(e.ts), ns(e.ts + e.dur), e.name]);
  work.sort((a, b) => a[0] - b[0]);
  let longest = [0, ""];
  let end = work[0][1];
  for (const [from, to, name] of work) {
    if (from - end > longest[0]) longest = [from - end, name];
    end = Math.max(end, to);
  }
  return { longest, count: work.length };
}

test("an operator leads to its slices on the timeline, from the table and from the treemap", tools(async (page) => {
  await open(page, TRACE, "operator-framework");
  await chooseLevel(page, "runtime calls");
  await page.getByRole("table", { name: "Operators" }).getByRole("button", { name: "hipLaunchKernel", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("12 found").waitFor();
  await chooseTool(page, "operator-framework");
  await page.locator(".treemap button", { hasText: "hipLaunchKernel" }).first().click();
  await page.getByText("12 found").waitFor();
}));

test("groups by category, device and thread count the same slices", tools(async (page) => {
  await open(page, TRACE, "statistics");
  const facts = JSON.parse(readFileSync(`${TRACES}/${TRACE}.facts.json`, "utf8"));
  const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/${TRACE}`))).traceEvents.filter((e) => e.ph === "X");
  const rows = page.getByRole("table", { name: "Groups" }).locator("tbody tr");
  const counts = async () => Object.fromEntries(await rows.evaluateAll((all) => all.map((row) => [
    row.querySelector("th").innerText, Number(row.querySelector("td").dataset.value),
  ])));
  await page.getByLabel("Group by").selectOption("category");
  await rows.filter({ hasText: "cpu_op" }).waitFor();
  const ofCategory = (name) => events.filter((e) => e.cat === name).length;
  const found = await counts();
  for (const name of ["cpu_op", "kernel", "gpu_memcpy", "cuda_runtime"]) assert.equal(found[name], ofCategory(name), name);
  for (const by of ["thread", "device", "core", "process"]) {
    await page.getByLabel("Group by").selectOption(by);
    await page.waitForFunction((wanted) => {
      const cells = [...document.querySelectorAll(".data-table tbody td:nth-child(2)")];
      return cells.reduce((sum, cell) => sum + Number(cell.dataset.value), 0) === wanted;
    }, facts.by_ph.X);
  }
}));

test("idle gaps are ranked, say what was waited on and lead to the timeline, by keyboard", tools(async (page) => {
  await open(page, TRACE, "idle-gaps");
  const rows = page.getByRole("table", { name: "Idle gaps" }).locator("tbody tr");
  await rows.first().waitFor();
  const cells = (row) => rows.nth(row).locator("td").evaluateAll((all) => all.map((c) => c.dataset.value));
  const [, duration, , until, by, , meanwhile] = await cells(0);
  const { longest } = deviceWork();
  assert.equal(Number(duration), longest[0]);
  assert.equal(until, longest[1]);
  assert.equal(by, "hipLaunchKernel");
  assert.equal(meanwhile, "hipLaunchKernel");
  assert.ok(Number((await cells(1))[1]) < longest[0]);
  await assertAccessible(page);
  await rows.first().getByRole("button").focus();
  await page.keyboard.press("Enter");
  // The slice that ended the gap is selected, and the gap is in view.
  await page.getByRole("heading", { name: longest[1].slice(0, 40) }).waitFor();
  await page.waitForFunction(() => location.hash.includes("tool=operator-timeline"));
  const hash = new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]);
  assert.ok(Number(hash.get("to")) - Number(hash.get("from")) > longest[0]);
}));

test("the critical path is drawn and listed, and its parts lead to the timeline", tools(async (page) => {
  await open(page, TRACE, "critical-path");
  const table = page.getByRole("table", { name: "Time on the path" });
  await table.locator("tbody tr").first().waitFor();
  const number = (name, column) => table.locator("tbody tr", { has: page.getByText(name, { exact: true }) }).locator(`td:nth-child(${column})`).getAttribute("data-value");
  // The launch that the device waited for is entirely on the path, with its total time in the facts.
  const facts = JSON.parse(readFileSync(`${TRACES}/${TRACE}.facts.json`, "utf8"));
  const launch = facts.X_top10_total_ns.find(([name]) => name === "hipLaunchKernel");
  assert.equal(Number(await number("hipLaunchKernel", 2)), launch[1]);
  assert.equal(Number(await number("hipLaunchKernel", 3)), launch[2]);
  // The parts of the path add up to its length.
  const times = await table.locator("tbody td:nth-child(3)").evaluateAll((all) => all.map((c) => Number(c.dataset.value)));
  const length = times.reduce((a, b) => a + b);
  assert.equal(await page.getByText(/ over \d+ parts/).getAttribute("title"), `${length.toLocaleString("en-US")} ns`);
  await assertAccessible(page);
  await page.locator(".path-strip button", { hasText: "hipLaunchKernel" }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "hipLaunchKernel" }).waitFor();
}));

test("the critical path of a simulated execution goes through its devices", tools(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await chooseTool(page, "critical-path");
  const rows = page.getByRole("table", { name: "Time on the path" }).locator("tbody tr");
  await rows.first().waitFor();
  const times = Object.fromEntries(await rows.evaluateAll((all) => all.map((row) => [
    row.querySelector("th").innerText, Number(row.querySelector("td:nth-child(3)").dataset.value),
  ])));
  assert.ok(times.fused_1 > 0, Object.keys(times).join());
  const whole = Object.values(times).reduce((a, b) => a + b);
  assert.ok((times["(nothing ran)"] ?? 0) < whole / 4, JSON.stringify(times));
  // The view scrolls within the frame: the document itself is as high as the window, and the bar with the run stays in sight.
  assert.equal(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), 0);
}));

test("the summary of any trace says in sentences what dominates, with links", tools(async (page) => {
  await open(page, TRACE, "summary");
  const said = page.getByRole("region", { name: "In short" });
  await said.getByText(/A profile of PyTorch \(Kineto\): 113 slices over 10\.2 ms/).waitFor();
  // The first sentence is the verdict: how long devices are idle from the first to the last step, and what the host does then.
  const verdict = said.locator("[data-topic=verdict]");
  await verdict.getByText(/Devices are idle for 9\.23 ms of 9\.37 ms \(98\.4 %\) from the first to the last step\./).waitFor();
  await verdict.getByText(/During 6\.58 ms of it \(71\.3 %\), .* is in "hipLaunchKernel"/).waitFor();
  await assertAccessible(page);
  await said.locator("[data-topic=idle]").getByRole("button", { name: /^hipLaunchKernel/ }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "hipLaunchKernel" }).waitFor();
  await chooseTool(page, "summary");
  await said.locator("[data-topic=verdict]").getByRole("button").first().click();
  await page.getByRole("application", { name: "Timeline" }).waitFor();
}));

test("a flame graph of one thread is in the order of time", tools(async (page) => {
  await open(page, TRACE, "flame-graph");
  await page.getByLabel("View", { exact: true }).selectOption("by time");
  const nodes = page.locator(".flame button");
  await page.locator(".flame.in-order").waitFor();
  // The thread with the most slices: the first of its rows has the step, and no slice is to the left of it.
  const first = await nodes.first().evaluate((e) => [e.innerText, e.style.left, e.style.getPropertyValue("--at")]);
  assert.deepEqual(first, ["ProfilerStep#1", "0%", "0"]);
  const lefts = await nodes.evaluateAll((all) => all.map((e) => Number.parseFloat(e.style.left)));
  assert.deepEqual(lefts, [...lefts].sort((a, b) => a - b));
  const thread = page.getByLabel("Thread", { exact: true });
  assert.match(await thread.evaluate((e) => e.selectedOptions[0].text), /597913/);
  await thread.selectOption({ label: await thread.locator("option", { hasText: "598009" }).innerText() });
  await page.locator(".flame button", { hasText: "hipLaunchKernel" }).first().waitFor();
  await assertAccessible(page);
  await page.locator(".flame button", { hasText: "hipLaunchKernel" }).first().click();
  await page.getByRole("heading", { name: "hipLaunchKernel" }).waitFor();
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
  await chooseTool(page, "modules");
  const rows = page.getByRole("table", { name: "Module hierarchy" }).locator("tbody th");
  await rows.first().waitFor();
  assert.ok((await rows.allInnerTexts()).some((t) => t.includes("Linear[layer1]")));
}));

test("mark_step is compared with trace", tools(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await chooseTool(page, "compare");
  await page.getByText("One profile is open").waitFor();
  await editRun(page);
  await page.getByLabel("Workflow").selectOption("trace");
  await button(page, "Run").click();
  const table = page.getByRole("table", { name: "Operators compared" });
  await table.waitFor();
  await page.getByLabel("Time", { exact: true }).selectOption("total");
  const names = () => table.locator("tbody th").allInnerTexts();
  await eventually(async () => assert.ok((await names()).includes("aten__addmm_dot"), (await names()).join()));
  await assertAccessible(page);
}));

for (const tool of ["statistics", "flame-graph", "ask", "idle-gaps", "critical-path", "summary"]) {
  test(`${tool} fits a phone in the dark`, tools(async (page) => {
    await open(page, TRACE, tool);
    await settledAddress(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, "nothing overflows to the side");
    await assertAccessible(page);
  }, { context: { viewport: { width: 360, height: 780 }, colorScheme: "dark" } }));
}
