// The frame of the page: a head of one row at any width, the finder, the focus, the message when something ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, waitForState, waiting } from "./support/app.mjs";

const app = appFixture();
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const SIMULATED = "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=overview";

// 320 px is the width of a 1280 px window at 400 % zoom.
for (const width of [320, 360, 390, 1024]) {
  test(`at ${width} px the head is one row, and its menu has the pages`, app.page(async (page) => {
    const head = page.locator("header.site");
    const box = await head.boundingBox();
    assert.ok(box.height <= 56, `${box.height} px high`);
    assert.equal(await overflow(page), 0, "nothing overflows to the side");
    const toggle = page.locator("#pages-toggle");
    assert.match(await toggle.innerText(), /Benchmark/);
    const pages = page.getByRole("navigation", { name: "Pages" });
    assert.equal(await pages.isVisible(), false);
    await toggle.click();
    await pages.waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await pages.waitFor({ state: "hidden" });
    assert.equal(await page.evaluate(() => document.activeElement.id), "pages-toggle");
    await toggle.click();
    await pages.getByRole("link", { name: "Numerics", exact: true }).click();
    await page.waitForFunction(() => location.hash.startsWith("#/numerics"));
    await pages.waitFor({ state: "hidden" });
    // The menu closes at the click; the head names the page once the address is set.
    await toggle.filter({ hasText: "Numerics" }).waitFor();
    assert.equal(await overflow(page), 0, "nothing overflows to the side");
  }, { hash: "#/benchmark?v=1", context: { viewport: { width, height: 800 } } }));
}

test("a wide head has the pages beside each other and no menu", app.page(async (page) => {
  assert.equal(await page.locator("#pages-toggle").isVisible(), false);
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").count(), 9);
  const { height } = await page.locator("header.site").boundingBox();
  assert.ok(height < 60, `the head is one line, not ${height} px`);
}));

test("the finder finds operators, tracks and settings", app.page(async (page) => {
  await waitForState(page, "done");
  const find = async (text, kind) => {
    await page.keyboard.press("Control+k");
    await page.locator("#finder").fill(text);
    const entry = page.locator(".finder li").filter({ has: page.locator(".kind", { hasText: new RegExp(`^${kind}$`) }) }).first();
    await entry.waitFor();
    return entry;
  };
  // An operator: its slices are highlighted on the timeline, all of them.
  await (await find("addmm", "Operator")).click();
  await page.locator('.workspace-view[data-view="operator-timeline"]').waitFor();
  await page.waitForFunction(() => /q=aten__addmm/.test(decodeURIComponent(location.hash)) && /of=operation/.test(location.hash));
  await page.getByText(/found by operation/).waitFor();
  // A track: it comes into sight, and the timeline has the focus.
  await (await find("qSyncWeights", "Track")).click();
  await page.waitForFunction(() => document.activeElement?.id === "timeline-canvas");
  // Settings: the theme, and the level of the tools.
  const before = await page.locator("html").getAttribute("data-theme");
  await (await find("theme", "Setting")).click();
  await page.waitForFunction((before) => document.documentElement.dataset.theme !== before, before);
  await (await find("Level: all", "Setting")).click();
  await page.waitForFunction(() => /level=all/.test(location.hash));
}, { hash: SIMULATED }));

test("two queues of one name are told apart", app.page(async (page) => {
  await waitForState(page, "done");
  await page.keyboard.press("Control+k");
  await page.locator("#finder").fill("qSyncWeights0 #");
  const names = page.locator(".finder li .name");
  await names.nth(1).waitFor();
  const texts = await names.allInnerTexts();
  assert.ok(texts.some((t) => t.endsWith("#1")) && texts.some((t) => t.endsWith("#2")), texts.join());
}, { hash: SIMULATED }));

for (const [name, hash] of [["Benchmark", "#/benchmark?v=1&model=nn&batch_sizes=1&n_models=1&workers_per_model=1&duration=1"], ["Numerics", "#/numerics?v=1&model=nn"]]) {
  test(`${name}: the focus is back on Run when a run ends, and the end is said`, app.page(async (page) => {
    await page.getByRole("button", { name: "Run", exact: true }).focus();
    await page.keyboard.press("Enter");
    await waitForState(page, "done");
    await page.waitForFunction(() => document.activeElement?.textContent === "Run");
    await page.waitForFunction(() => /Done/.test(document.getElementById("said").textContent));
  }, { hash: waiting(hash) }));
}

test("closing the last profile leaves the focus in the page", app.page(async (page) => {
  await waitForState(page, "done");
  await page.getByRole("button", { name: "Close run", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No profile yet" }).waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body);
}, { hash: SIMULATED }));

test("reduced motion and forced colours: nothing moves, what is chosen is marked", app.page(async (page) => {
  await waitForState(page, "done");
  const chosen = page.locator('#rail-tools [aria-current="true"]');
  const style = await chosen.evaluate((e) => ({ outline: getComputedStyle(e).outlineStyle, transition: getComputedStyle(e).transitionDuration }));
  assert.deepEqual(style, { outline: "solid", transition: "0s" });
}, { hash: SIMULATED, context: { forcedColors: "active", reducedMotion: "reduce" } }));
