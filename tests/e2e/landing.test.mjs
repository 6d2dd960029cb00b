// The start page, the overview as the first view, the rail, the dock, and the browser's history.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, editRun, toolShown, waitForState } from "./support.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const first = (page) => page.getByRole("heading", { name: "What to look at first" });
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const start = (body, options) => app.page(body, { hash: "", ...options });

for (const [name, viewport, colorScheme] of [["desk, light", { width: 1440, height: 900 }, "light"], ["phone, dark", { width: 360, height: 780 }, "dark"]]) {
  test(`the start page fits, and its card runs BERT at once: ${name}`, start(async (page) => {
    assert.equal(await overflow(page), 0);
    await assertAccessible(page);
    await page.getByRole("link", { name: "Profile BERT" }).click();
    await first(page).waitFor();
    await page.getByText("Device window", { exact: true }).first().waitFor();
    assert.equal(await toolShown(page), "overview");
    assert.equal(await overflow(page), 0);
    await assertAccessible(page);
    // The page can be left, and the way back is the start page.
    await page.getByRole("link", { name: "neuronscope" }).click();
    await page.getByRole("heading", { name: "Open a file" }).waitFor();
  }, { context: { viewport, colorScheme } }));
}

test("the sample opens with its overview; each finding leads to where it shows, and Back returns", start(async (page) => {
  await page.getByRole("link", { name: "Open the trace" }).click();
  await first(page).waitFor();
  await page.locator(".ranked .ways button", { hasText: "Idle gaps" }).first().click();
  await page.locator('.workspace-view[data-view="idle-gaps"]').waitFor();
  await page.waitForFunction(() => location.hash.includes("tool=idle-gaps"));
  await page.goBack();
  await page.locator('.workspace-view[data-view="overview"]').waitFor();
  await page.goForward();
  await page.locator('.workspace-view[data-view="idle-gaps"]').waitFor();
}));

test("tools, zooms and jumps are walked through with Back and Forward", app.page(async (page) => {
  await waitForState(page, "done");
  await chooseTool(page, "statistics");
  await page.waitForFunction(() => location.hash.includes("tool=statistics"));
  await chooseTool(page, "operator-timeline");
  await page.waitForFunction(() => location.hash.includes("tool=operator-timeline"));
  await page.getByRole("application", { name: "Timeline" }).focus();
  await page.keyboard.press("w");
  await page.waitForFunction(() => location.hash.includes("from="));
  const zoomed = await page.evaluate(() => location.hash);
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("from=") && location.hash.includes("operator-timeline"));
  await page.goBack();
  await page.locator('.workspace-view[data-view="statistics"]').waitFor();
  await page.goForward();
  await page.goForward();
  await page.waitForFunction((hash) => location.hash === hash, zoomed);
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

test("stacks open as a flame graph, and a tool that a file lacks something for says what", app.page(async (page) => {
  await page.locator("#open-file").setInputFiles({ name: "a.collapsed", mimeType: "text/plain", buffer: Buffer.from("main;load;read 30\nmain;compute 60\n") });
  await page.locator('.workspace-view[data-view="flame-graph"]').waitFor();
  const engines = page.locator('[data-tool="operator-engine"]');
  assert.equal(await engines.getAttribute("aria-disabled"), "true");
  // A person may press it all the same.
  await engines.click({ force: true });
  await page.getByText(/Only a profile of one execution on a NeuronCore has rows of engines/).first().waitFor();
  assert.equal(await toolShown(page), "flame-graph");
}, { hash: "#/profile" }));

test("the rail is walked with arrow keys; the dock keeps its size", app.page(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}/catapult_nanoseconds.json`);
  await first(page).waitFor();
  await page.locator('[data-tool="overview"]').focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator('.workspace-view[data-view="operator-timeline"]').waitFor();
  const edge = page.getByRole("separator", { name: "Size of the details" });
  const before = Number(await edge.getAttribute("aria-valuenow"));
  await edge.focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(Number(await edge.getAttribute("aria-valuenow")), before + 24);
  await chooseTool(page, "overview");
  await chooseTool(page, "operator-timeline");
  assert.equal(Number(await edge.getAttribute("aria-valuenow")), before + 24);
  await assertAccessible(page);
}, { hash: "#/profile", context: { viewport: { width: 1440, height: 900 } } }));

test("the form is one line until it is edited, and the overview of a file has its findings", app.page(async (page) => {
  await waitForState(page, "done");
  assert.equal(await page.locator("#profile-form").count(), 0);
  assert.match(await page.locator(".spec-line").innerText(), /nn · mark_step · trn1\.2xlarge\s*Edit/);
  await editRun(page);
  await page.getByLabel("Workflow").selectOption("trace");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".spec-line")?.innerText.includes("trace"));
  // The run that ended folds the form.
  await page.locator("#profile-form").waitFor({ state: "detached" });
  const buffer = readFileSync(`${TRACES}/kineto_resnet50_workers0_a.json.gz`);
  await page.locator("#open-file").setInputFiles({ name: "resnet.json.gz", mimeType: "application/gzip", buffer });
  await page.locator(".ranked h4", { hasText: "DataLoader" }).waitFor();
  await page.locator(".step-columns button").first().waitFor();
  // The chart has a table twin, with a row for each step.
  await page.locator(".step-columns summary").click();
  const twin = page.locator(".step-columns tbody tr");
  await twin.first().waitFor();
  assert.equal(await twin.count(), await page.locator(".step-columns ol li").count());
  assert.match(await page.locator(".step-columns thead").innerText(), /Length \(/);
  await assertAccessible(page);
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

test("Ctrl+K finds tools, pages and slices", app.page(async (page) => {
  await waitForState(page, "done");
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: /^Find a tool/ });
  await field.fill("flame");
  await page.getByRole("option", { name: /Flame graph/ }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await page.locator('.workspace-view[data-view="flame-graph"]').waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("addmm_dot");
  await page.getByRole("option", { name: /^Slice/ }).first().click();
  await page.locator('.workspace-view[data-view="operator-timeline"]').waitFor();
  await page.getByRole("heading", { name: /addmm_dot/ }).first().waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("Numer");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/numerics"));
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));
