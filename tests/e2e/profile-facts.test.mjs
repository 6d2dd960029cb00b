// Compares the views of real traces with numbers that an independent reader found in the files: columns, pages, whole files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { appFixture, assertAccessible, chooseLevel, chooseTool, countAllSlices, countEachName, download, editRun, eventually, menuEntry, settledAddress, toolShown, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const SMALL = "hta_amd_mi250_minitoy.json.gz";
const LARGE = "tracelens_qwen05b_mi300.json.gz";
const facts = (file) => JSON.parse(readFileSync(`${TRACES}/${file}.facts.json`, "utf8"));
const button = (page, name) => page.getByRole("button", { name, exact: true });
const canvas = (page) => page.getByRole("application", { name: "Timeline" });
const table = (page, name) => page.getByRole("table", { name });
const values = (rows) => rows.evaluateAll((all) => all.map((row) => [...row.cells].map((c) => c.dataset.value ?? c.innerText)));
const about = (body, options) => app.page(body, { hash: "#/profile?v=1", ...options });

async function open(page, file, chosen) {
  await page.locator("#open-file").setInputFiles(`${TRACES}/${file}`);
  await page.waitForFunction((name) => document.querySelector(".run-title")?.textContent.includes(name), file);
  await waitForState(page, "done");
  if (chosen) await chooseTool(page, chosen);
  await countAllSlices(page);
}

// Complete events of a file, in whole nanoseconds from the first event of all.
function slicesOf(file) {
  const events = JSON.parse(gunzipSync(readFileSync(`${TRACES}/${file}`))).traceEvents;
  // Whole nanoseconds beyond 2^53 are exact only in their text, and so are differences of two close ones.
  const first = Math.min(...events.filter((e) => e.ph !== "M").map((e) => e.ts));
  const ns = (us) => Math.round((us - first) * 1000);
  return events.filter((e) => e.ph === "X").map((e) => ({ ...e, from: ns(e.ts), to: ns(e.ts) + Math.round(e.dur * 1000) }));
}

// The value below which a share of the sorted values lie, interpolated between two of them.
function percentile(sorted, share) {
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

test("every column of a name is what its slices give, in all of the profile and in a part of it", about(async (page) => {
  await open(page, SMALL, "statistics");
  const slices = slicesOf(SMALL);
  const rows = table(page, "Groups").locator("tbody tr");
  const row = (name) => rows.filter({ has: page.getByText(name, { exact: true }) });
  await row("hipLaunchKernel").waitFor();
  const [, ...shown] = (await values(row("hipLaunchKernel")))[0].map(Number);
  const durations = slices.filter((e) => e.name === "hipLaunchKernel").map((e) => e.to - e.from).sort((a, b) => a - b);
  const total = durations.reduce((a, b) => a + b);
  const [, count, known] = facts(SMALL).X_top10_total_ns.find(([name]) => name === "hipLaunchKernel").map(Number);
  assert.deepEqual([durations.length, total], [count, known]);
  const selfOfAll = (await values(rows)).reduce((sum, cells) => sum + Number(cells[3]), 0);
  // A launch has no slices inside: its self time is its total time.
  const expected = [
    count, total, total, total / count, percentile(durations, 0.5), percentile(durations, 0.99), durations[0],
    durations.at(-1), (total * 100) / selfOfAll,
  ];
  shown.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= 1e-9 * expected[i], `column ${i}: ${value} is ${expected[i]}`));
  const heads = (await table(page, "Groups").locator("thead button").allInnerTexts()).map((t) => t.replace(/\((?:ns|\u00b5s|ms|s)\)/, "(time)").replace(/[^\w()% ]/g, "").trim());
  assert.deepEqual(heads, ["Name", "Count", "Total (time)", "Self (time)", "Mean (time)", "p50 (time)", "p99 (time)", "Min (time)", "Max (time)", "Self %"]);
  // Sorted by a head, by keyboard.
  await table(page, "Groups").getByRole("button", { name: /^Min \(/ }).focus();
  await page.keyboard.press("Enter");
  const least = (await values(rows)).map((cells) => Number(cells[7]));
  assert.deepEqual(least, [...least].sort((a, b) => b - a));
  // Its histogram counts each slice once.
  await row("hipLaunchKernel").getByRole("button").click();
  await page.getByText("Durations of 12 slices").waitFor();
  const bins = await page.locator(".histogram li").evaluateAll((all) => all.map((li) => Number(/([\d,]+) slices/.exec(li.title)[1])));
  assert.equal(bins.reduce((a, b) => a + b), 12);
  // Slices that touch the span in view are counted, and no others.
  await chooseTool(page, "operator-timeline");
  await canvas(page).focus();
  for (const key of ["w", "w", "w", "d"]) await page.keyboard.press(key);
  await page.waitForFunction(() => /from=\d/.test(location.hash));
  const query = await settledAddress(page);
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const inside = slices.filter((e) => e.from < to && e.to > from);
  assert.ok(inside.length > 4 && inside.length < slices.length, `${inside.length} of ${slices.length}`);
  await chooseTool(page, "statistics");
  await page.getByLabel(/^In view on the timeline/).check();
  await page.waitForFunction((wanted) => {
    const cells = [...document.querySelectorAll('[aria-label="Groups, scrollable"] tbody td:nth-child(2)')];
    return cells.reduce((sum, cell) => sum + Number(cell.dataset.value), 0) === wanted;
  }, inside.length);
}));

test("gaps, parts of the path and slices of a group come page by page, and whole as CSV", about(async (page) => {
  await open(page, LARGE, "idle-gaps");
  const saved = async (name) => (await download(page, page.getByRole("button", { name }))).bytes.toString();
  const lines = (csv) => csv.replaceAll(/"(?:[^"]|"")*"/g, "").trimEnd().split("\n").length - 1;
  const text = await page.getByText(/^Gaps 1 to 500 of [\d,]+, the longest first/).innerText();
  const gaps = Number(/of ([\d,]+),/.exec(text)[1].replaceAll(",", ""));
  const all = await saved(/^Download Idle gaps as CSV, all/);
  assert.equal(lines(all), gaps);
  await button(page, "Shorter gaps").click();
  await page.getByText(/^Gaps 501 to 1,000 of/).waitFor();
  const second = (await values(table(page, "Idle gaps").locator("tbody tr:not(.spacer)")))[0];
  assert.equal(all.split("\n")[501].split(",")[1], second[1]);

  await chooseTool(page, "critical-path");
  await page.getByText(/^Parts 1 to 500 of/).waitFor();
  const sentence = page.getByText(/ over [\d,]+ parts/);
  const [, length] = /^([\d,]+) ns$/.exec(await sentence.getAttribute("title"));
  const [, parts] = /^[\d.]+ m?s over ([\d,]+) parts/.exec(await sentence.innerText());
  const number = (t) => Number(t.replaceAll(",", ""));
  const whole = await saved(/^Download Parts of the path as CSV, all/);
  assert.equal(lines(whole), number(parts));
  // Parts follow one another: together they are as long as the path.
  const times = whole.replaceAll(/"(?:[^"]|"")*"/g, "").trimEnd().split("\n").slice(1).map((line) => Number(line.split(",")[2]));
  assert.equal(times.reduce((a, b) => a + b), number(length));
  // The strip has no gap: its stretches add up to its length.
  const widths = await page.locator(".path-strip button").evaluateAll((all) => all.map((b) => Number.parseFloat(b.style.width)));
  assert.ok(Math.abs(widths.reduce((a, b) => a + b) - 100) < 0.1, `${widths.length} stretches`);
  await button(page, "Shorter parts").focus();
  await page.keyboard.press("Enter");
  await page.getByText(/^Parts 501 to 1,000 of/).waitFor();
  await assertAccessible(page);

  await chooseTool(page, "statistics");
  await chooseLevel(page, "all");
  await countEachName(page);
  const [name, count, total] = facts(LARGE).X_top10_total_ns[0];
  await table(page, "Groups").getByRole("button", { name, exact: true }).click();
  const group = page.getByRole("region", { name: "Selected group" });
  await group.getByText(`Its ${count} slices`).click();
  await group.getByText(`Slices 1 to 200 of ${count}, the longest first`).waitFor();
  await group.getByRole("button", { name: "Shorter slices" }).click();
  await group.getByText(`Slices 201 to ${count} of ${count}`).waitFor();
  const members = await saved(/^Download Slices of the group as CSV, all/);
  const durations = members.trimEnd().split("\n").slice(1).map((line) => Number(line.split(",").at(-1)));
  assert.deepEqual([durations.length, durations.reduce((a, b) => a + b)], [count, total]);
}));

test("queries give the sums of the facts, a plot of them, and thousands of rows page by page", about(async (page) => {
  await open(page, LARGE, "ask");
  const known = facts(LARGE);
  const asked = async (query) => {
    await page.getByRole("textbox", { name: "Query" }).fill(query);
    await page.keyboard.press("Enter");
  };
  await asked("group by name select name, count, sum(dur) order by sum(dur) desc limit 10");
  const rows = table(page, "Answer").locator("tbody tr");
  await rows.nth(9).waitFor();
  const cells = await values(rows);
  assert.deepEqual(cells.map(([name, count, ns]) => [name, Number(count), Number(ns)]), known.X_top10_total_ns);
  await page.getByLabel("Plot").selectOption("sum(dur) (ns)");
  const longest = page.locator(".bars li").first();
  assert.match(await longest.innerText(), new RegExp(`module.py\\(1755\\)[^]*${(known.X_top10_total_ns[0][2] / 1e6).toPrecision(3)} ms`));
  await asked('where category = "cpu_op"');
  await page.getByText(`Rows 1 to 2,000 of ${known.categories.cpu_op.toLocaleString("en-US")}`).waitFor();
  await button(page, "Next rows").focus();
  await page.keyboard.press("Enter");
  await page.getByText(/^Rows 2,001 to 4,000 of/).waitFor();
  const csv = await download(page, page.getByRole("button", { name: /^Download Answer as CSV, all/ }));
  assert.equal(csv.bytes.toString().replaceAll(/"(?:[^"]|"")*"/g, "").trimEnd().split("\n").length - 1, known.categories.cpu_op);
}));

test("the summary of an XLA trace says what its planes hold", about(async (page) => {
  const file = "tracelens_jax_conv_legacy.xplane.pb";
  await open(page, file, "summary");
  const known = facts(file);
  const said = page.getByRole("region", { name: "In short" });
  await said.getByText(`A profile of XLA: ${known.n_events.toLocaleString("en-US")} slices`).waitFor();
  // Two planes of devices have events; their µs together.
  const devices = known.planes.filter(([name]) => name.startsWith("/device")).reduce((sum, plane) => sum + plane[3], 0);
  await said.getByText(`Devices compute for ${(devices / 1000).toFixed(2)} ms`).waitFor();
  await said.getByText("takes the most").waitFor();
  await said.locator("[data-topic=idle]").getByRole("button").first().focus();
  await page.keyboard.press("Enter");
  await canvas(page).waitFor();
}));

test("flame graphs hold all time of the slices, merged, by thread and around a name", about(async (page) => {
  await open(page, SMALL, "flame-graph");
  const own = facts(SMALL);
  const said = (text) => page.locator(`.flame button[aria-label^="${text}"]`).first();
  // The step is outermost on two threads, which left-heavy stacks merge.
  const [step, count, ns] = own.X_top10_total_ns[0];
  await said(`${step}: ${count} slices, total ${(ns / 1e6).toFixed(1)} ms`).waitFor();
  await page.getByLabel("View", { exact: true }).selectOption("by thread");
  await said(`${step}: 1 slice, total`).waitFor();
  const launch = own.X_top10_total_ns.find(([name]) => name === "hipLaunchKernel");
  await page.getByLabel("View", { exact: true }).selectOption("sandwich");
  await page.getByLabel("Name", { exact: true }).fill("hipLaunchKernel");
  await page.getByText(`hipLaunchKernel: ${launch[1]} slices, total ${(launch[2] / 1e6).toFixed(2)} ms, self ${(launch[2] / 1e6).toFixed(2)} ms`).waitFor();
  // The callers of a name: a button is as wide as its share, and all are below it.
  const callers = page.locator("figure", { hasText: "Callers" }).locator("button");
  assert.ok((await callers.count()) > 2);
}));

test("a file that cannot be opened hides the figures of another, a button brings them back as they were, and the tool that is named is the one that is shown", about(async (page) => {
  await open(page, SMALL, "statistics");
  await table(page, "Groups").getByRole("button", { name: "hipLaunchKernel", exact: true }).click();
  const group = page.getByRole("region", { name: "Selected group" });
  await group.getByRole("button", { name: "Show the longest" }).click();
  await canvas(page).waitFor();
  assert.equal(await toolShown(page), "operator-timeline");
  // Chosen by hand, changed by a jump, chosen by hand: the field must follow each time.
  await chooseTool(page, "statistics");
  await group.getByRole("button", { name: "Highlight on the timeline" }).click();
  await canvas(page).waitFor();
  assert.equal(await toolShown(page), "operator-timeline");
  await chooseTool(page, "statistics");
  await page.locator("#open-file").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no trace") });
  await waitForState(page, "failed");
  assert.equal(await group.isVisible(), false);
  await page.getByRole("button", { name: `Show ${SMALL} again` }).click();
  assert.equal(await toolShown(page), "statistics");
  await group.getByRole("heading", { name: "hipLaunchKernel" }).waitFor();
  // Another run has its own search.
  await open(page, "catapult_simple_trace.json", "operator-timeline");
  assert.equal(await page.getByLabel("Search slices").inputValue(), "");
  await page.getByLabel("Run", { exact: true }).selectOption({ label: SMALL });
  await page.getByText(/of 12$|12 found/).waitFor();
  assert.equal(await page.getByLabel("Search slices").inputValue(), "hipLaunchKernel");
}));

test("tracks of a real trace are hidden and pinned with keys, folded, and sections close; W A S D move", about(async (page) => {
  await open(page, SMALL, "operator-timeline");
  await page.getByLabel("Search slices").fill("hipLaunchKernel");
  await page.getByText("12 found").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Wall duration").waitFor();
  await canvas(page).focus();
  const settled = () => settledAddress(page);
  const view = async () => {
    const query = await settled();
    return [Number(query.get("from")), Number(query.get("to"))];
  };
  await page.keyboard.press("p");
  assert.ok((await settled()).get("pin"));
  await page.keyboard.press("h");
  assert.ok((await settled()).get("off"));
  await page.keyboard.press("Escape");
  for (let i = 0; i < 3; i++) await page.keyboard.press("w");
  const near = await view();
  await page.keyboard.press("d");
  const right = await view();
  assert.ok(right[0] > near[0] && Math.abs(right[1] - right[0] - near[1] + near[0]) <= 2, "D looks later");
  await page.keyboard.press("a");
  await page.keyboard.press("a");
  assert.ok((await view())[0] < near[0], "A looks earlier");
  await page.keyboard.press("s");
  const far = await view();
  assert.ok(far[1] - far[0] > near[1] - near[0], "S shows more");
  await page.getByText(/^Tracks/).first().click();
  const fold = page.getByLabel(/^Fold /).first();
  await fold.focus();
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await fold.getAttribute("aria-pressed"), "true"));
  const before = await canvas(page).evaluate((c) => c.parentElement.offsetHeight);
  await canvas(page).click({ position: { x: 12, y: 26 + 10 } });
  await page.waitForFunction((h) => document.querySelector(".timeline-content").offsetHeight !== h, before);
}));

test("two casts and two devices of a model are compared, whichever is the base", about(async (page) => {
  const runs = page.getByLabel("Run", { exact: true }).locator("option");
  const run = async (count) => {
    await editRun(page);
    await button(page, "Run").click();
    await runs.nth(count - 1).waitFor({ state: "attached" });
    await waitForState(page, "done");
  };
  await run(1);
  await editRun(page);
  await page.getByText("Compiler:").click();
  await page.getByLabel("Auto-cast", { exact: true }).selectOption("none");
  await run(2);
  await editRun(page);
  await page.getByLabel("Instance type").fill("inf2.xlarge");
  await run(3);
  const usual = "nn mark_step";
  const fp32 = `${usual}, --auto-cast none -O2`;
  const inf2 = `${usual} on inf2.xlarge, --auto-cast none -O2`;
  await chooseTool(page, "compare");
  await page.getByLabel("Time", { exact: true }).selectOption("total");
  const rows = table(page, "Operators compared").locator("tbody tr");
  // The time of each operator in the base and in the other run, and the difference.
  const compared = async (base, other) => {
    await page.getByLabel("Base", { exact: true }).selectOption(base);
    await page.getByText(`${other} against ${base} as base`).waitFor();
    const found = Object.fromEntries((await values(rows)).map(([name, , , , a, b, difference]) => [name, [a, b, difference].map(Number)]));
    for (const [name, [a, b, difference]] of Object.entries(found)) assert.equal(difference, b - a, name);
    const effect = Object.values(found).map(([, , difference]) => Math.abs(difference));
    assert.deepEqual(effect, [...effect].sort((a, b) => b - a));
    return found;
  };
  const devices = await compared(fp32, inf2);
  const both = await compared(usual, inf2);
  await page.getByLabel("Run", { exact: true }).selectOption({ index: 1 });
  const casts = await compared(usual, fp32);
  for (const [name, [ns, ofFp32]] of Object.entries(casts)) {
    assert.deepEqual([devices[name][0], both[name][0]], [ofFp32, ns], name);
    assert.equal(devices[name][1], both[name][1], name);
  }
  // 32-bit products take longer than 16-bit ones; a tanh is not cast.
  assert.ok(casts.aten__addmm_dot[2] > 0, `${casts.aten__addmm_dot}`);
}));

test("the tree of modules holds the time of the framework's operators, and modules are groups", about(async (page) => {
  await button(page, "Run").click();
  await waitForState(page, "done");
  await chooseTool(page, "operator-framework");
  const operators = table(page, "Framework operators").locator("tbody tr");
  await operators.first().waitFor();
  const time = (await values(operators)).reduce((sum, cells) => sum + Number(cells[4]), 0);
  await chooseTool(page, "modules");
  const modules = table(page, "Module hierarchy").locator("tbody tr");
  await modules.first().waitFor();
  const tree = (await values(modules)).map(([name, , total, own]) => [name.trim(), Number(total), Number(own)]);
  assert.deepEqual(tree[0].slice(0, 2), ["NN[model]", time]);
  assert.equal(tree.reduce((sum, [, , own]) => sum + own, 0), time);
  await chooseTool(page, "statistics");
  await page.getByLabel("Group by").selectOption("module");
  const groups = table(page, "Groups").locator("tbody tr");
  await groups.filter({ hasText: "Linear[layer1]" }).first().waitFor();
  // The framework's operators alone have the same time as the tree.
  assert.equal((await values(groups)).reduce((sum, cells) => sum + Number(cells[3]), 0), time);
  // All levels together have all slices; slices without a module are in a separate group.
  await chooseLevel(page, "all");
  await groups.filter({ hasText: "(none)" }).first().waitFor();
  const shown = await page.locator(".facts div", { hasText: "Slices" }).locator("dd").innerText();
  // An interrupted operator counts once, however many stretches it has.
  const saved = await download(page, await menuEntry(page, "Download JSON"));
  const slices = JSON.parse(saved.bytes).traceEvents.filter((e) => e.ph === "X");
  const begun = slices.filter((e) => !e.args?.continues).length;
  assert.equal(slices.length, Number(shown));
  assert.ok(begun < slices.length, `${begun} of ${shown}`);
  assert.equal((await values(groups)).reduce((sum, cells) => sum + Number(cells[1]), 0), begun);
}));
