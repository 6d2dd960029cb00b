// What stands in the place of a page's example until its program has computed it (www/examples/, www/early.js).
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { appFixture, assertAccessible, waitForState } from "./support/app.mjs";
import { EXAMPLES, WIDTHS, storedExample } from "./support/examples.mjs";

const app = appFixture();
const PROGRAMS = /_bg\.wasm$/;

const stored = (path, width) => readFileSync(new URL(`../../www/examples/${path}-${width}.html`, import.meta.url), "utf8");

// A tag with the text behind it on each line, for messages that name what differs.
const lines = (markup) => markup.split(/(?=<)/);

// Holds the programs of a page back until `go` is called.
async function holdPrograms(page, programs = PROGRAMS) {
  let go;
  const isOpen = new Promise((resolve) => { go = resolve; });
  await page.route(programs, async (route) => { await isOpen; await route.continue(); });
  return go;
}

for (const path of EXAMPLES) {
  test(`the stored example of ${path} is what the page computes`, app.page(async (_, url) => {
    for (const width of Object.keys(WIDTHS)) {
      const now = await storedExample(app.browser, url, path, width);
      assert.deepEqual(lines(now), lines(stored(path, width)), "if it is meant: ./x pictures --examples");
    }
  }, { open: false }));
}

test("a page shows its example before its programs come, and nothing moves when they do", app.page(async (page, url) => {
  const go = await holdPrograms(page);
  await page.goto(`${url}#/benchmark`, { waitUntil: "commit" });
  await page.locator("main[data-example] .tiles").first().waitFor();
  await assertAccessible(page);
  assert.deepEqual(await page.getByRole("heading", { level: 1 }).allTextContents(), ["Benchmark"], "it is said once");
  const places = () => page.evaluate(() => ["h1", ".form-bar", ".tiles", "svg[role=img]"].map((selector) => {
    const element = [...document.querySelectorAll(`main ${selector}`)].find((e) => e.checkVisibility({ visibilityProperty: true }));
    const { x, y, width, height } = element.getBoundingClientRect();
    return [selector, x, y, width, height].map((v) => (typeof v === "number" ? Math.round(v) : v)).join(" ");
  }));
  const before = await places();
  go();
  await waitForState(page, "done");
  await page.locator("main[data-example]").waitFor({ state: "detached" });
  assert.deepEqual(await places(), before);
}, { open: false, context: { viewport: WIDTHS.desk } }));

test("on a slow line a page says that its buttons do not work yet", app.page(async (page, url) => {
  const go = await holdPrograms(page);
  await page.goto(`${url}#/llm`, { waitUntil: "commit" });
  await page.getByRole("status").filter({ hasText: "is being loaded" }).waitFor();
  go();
  await waitForState(page, "done");
  assert.equal(await page.locator(".example-note").count(), 0);
}, { open: false, context: { viewport: WIDTHS.phone } }));

test("only a bare address has a stored example, and that of another page takes its place", app.page(async (page, url) => {
  const go = await holdPrograms(page);
  await page.goto(`${url}#/llm?v=1`, { waitUntil: "commit" });
  await page.locator("main[data-early=llm]:visible").waitFor();
  assert.equal(await page.locator("main[data-example]").count(), 0);
  await page.evaluate(() => { location.hash = "#/matmult"; });
  await page.locator("main[data-example=matmult] .tiles").waitFor();
  await page.evaluate(() => { location.hash = "#/guide"; });
  await page.locator("main[data-example=guide] h2").first().waitFor();
  assert.equal(await page.locator("main[data-example]").count(), 1);
  go();
  await waitForState(page, "idle");
  await page.locator("main[data-example]").waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Guide" }).waitFor();
}, { open: false }));

test("beside the app a stored example is where the link to the content leads", app.page(async (page) => {
  const go = await holdPrograms(page, /lab_bg\.wasm$/);
  await page.getByRole("link", { name: "Read the guide" }).click();
  await page.locator("main[data-example=guide] h2").first().waitFor();
  await assertAccessible(page);
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.example), "guide");
  go();
  await waitForState(page, "idle");
}, { hash: "#/" }));

test("a page that opens with a result is not at rest before it, so its example stays until then", app.page(async (_, url) => {
  for (const path of EXAMPLES.filter((path) => path !== "guide")) {
    const page = await app.browser.newPage({ serviceWorkers: "block" });
    await page.addInitScript(() => {
      window.states = [];
      const note = () => window.states.push(document.documentElement.dataset.state);
      addEventListener("DOMContentLoaded", () => new MutationObserver(note).observe(document.documentElement, { attributeFilter: ["data-state"] }));
    });
    await page.goto(`${url}#/${path}`);
    await waitForState(page, "done");
    assert.ok(!(await page.evaluate(() => window.states)).includes("idle"), path);
    await page.close();
  }
}, { open: false }));

test("behind its example a page draws one part at a time, and each plot once", app.page(async (page, url) => {
  const PARTS = [".choice", ".results-table", ".panel:not(.choice) > .bars", ".configuration"];
  await page.addInitScript((parts) => {
    // Yew pauses after 16 ms, as on a slow processor: here wherever it may.
    const begin = Date.now();
    let calls = 0;
    Date.now = () => begin + 20 * calls++;
    Object.assign(window, { tasks: [], plots: 0, redrawn: 0 });
    const isOfPage = (element) => element?.closest("main:not([data-static], [data-example])");
    // The browser calls it once a task.
    const note = (changes) => {
      if (!("example" in document.documentElement.dataset)) return;
      const added = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node instanceof Element && isOfPage(node));
      const has = (selector) => added.some((element) => element.matches(selector) || element.querySelector(selector));
      window.tasks.push(parts.filter(has));
      window.plots += added.filter((element) => element.matches("g.axes")).length;
      window.redrawn += changes.filter((change) => change.type === "attributes" && isOfPage(change.target)?.contains(change.target.closest("g.axes"))).length;
    };
    new MutationObserver(note).observe(document, { subtree: true, childList: true, attributeFilter: ["x1"] });
  }, PARTS);
  await page.goto(`${url}#/benchmark`);
  await waitForState(page, "done");
  await page.locator("main[data-example]").waitFor({ state: "detached" });
  const { tasks, plots, redrawn } = await page.evaluate(() => ({ tasks: window.tasks, plots: window.plots, redrawn: window.redrawn }));
  const drawn = tasks.filter((parts) => parts.length);
  assert.deepEqual(drawn.map((parts) => parts.length), PARTS.map(() => 1), `one part in a task: ${JSON.stringify(drawn)}`);
  assert.deepEqual(drawn.flat().toSorted(), PARTS.toSorted());
  assert.equal(plots, await page.locator("main g.axes").count());
  assert.equal(redrawn, 0);
}, { open: false, context: { viewport: WIDTHS.phone } }));

test("a file that is dropped before the programs come is opened once they are there, in the place of the example", app.page(async (page, url) => {
  const go = await holdPrograms(page);
  await page.goto(`${url}#/benchmark`, { waitUntil: "commit" });
  await page.locator("main[data-example] .tiles").first().waitFor();
  const isKept = await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["main;load;read 30\nmain;compute 60\n"], "early.collapsed"));
    return !document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  });
  assert.ok(isKept, "the browser does not open it in the page's place");
  go();
  await page.getByRole("heading", { name: "early.collapsed" }).waitFor();
  await waitForState(page, "done");
}, { open: false }));

test("a folder is opened whether it is dropped before the programs come or after", app.page(async (page, url) => {
  const folder = mkdtempSync(join(tmpdir(), "neuronscope-folder-"));
  try {
    mkdirSync(join(folder, "runs"));
    writeFileSync(join(folder, "runs", "early.collapsed"), "main;load;read 30\nmain;compute 60\n");
    const cdp = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder], dragOperationsMask: 1 };
    const drop = async () => {
      for (const type of ["dragEnter", "dragOver", "drop"]) await cdp.send("Input.dispatchDragEvent", { type, x: 200, y: 300, data });
    };
    const isOpen = () => page.getByRole("heading", { name: basename(folder) }).waitFor();
    const go = await holdPrograms(page);
    await page.goto(`${url}#/benchmark`, { waitUntil: "commit" });
    await page.locator("main[data-example] .tiles").first().waitFor();
    await drop();
    go();
    await isOpen();
    await waitForState(page, "done");
    await page.goto(`${url}#/guide`);
    await page.getByRole("heading", { level: 1, name: "Guide" }).waitFor();
    await drop();
    await isOpen();
  } finally {
    rmSync(folder, { recursive: true });
  }
}, { open: false }));
