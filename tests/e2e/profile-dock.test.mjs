// The dock below the timeline: a click at the foot of the slices leaves them where they are; the keys of the search; groups of tools.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, chooseTool, eventually, waitForState } from "./support/app.mjs";

const app = appFixture();
const TRACE = fileURLToPath(new URL("../it/fixtures/traces/kineto_resnet50_workers0_a.json.gz", import.meta.url));
const WINDOWS = { desk: { width: 1440, height: 900 }, laptop: { width: 1280, height: 720 }, phone: { width: 390, height: 844 } };
const canvas = (page) => page.getByRole("application", { name: "Timeline" });
const details = (page) => page.getByRole("region", { name: "Selected slice" });
const tip = (page) => page.locator(".timeline .tip strong");

async function open(page, tool = "operator-timeline") {
  await page.locator("#open-file").setInputFiles(TRACE);
  await waitForState(page, "done");
  await chooseTool(page, tool);
}

/** How far the slices are scrolled, in their frame and with the page. */
const scrolled = (page) => page.evaluate(() => document.querySelector(".timeline-scroll").scrollTop + document.documentElement.scrollTop);

/** The name of the slice under a point of the window, as the tooltip says it; `null` if the canvas has no slice there, or a value. */
async function sliceAt(page, x, y) {
  await page.mouse.move(x, y - 1);
  await page.mouse.move(x, y);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const isCanvas = await page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.id === "timeline-canvas", [x, y]);
  return isCanvas && (await page.locator(".timeline .tip span").count()) === 1 ? await tip(page).innerText() : null;
}

/** Shows a long slice of the device, whose row is scrolled to the foot of the canvas, with nothing selected. */
async function showDeviceRow(page) {
  await page.locator("#timeline-search").fill("Memcpy HtoD");
  await page.locator("#timeline-search").press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  await canvas(page).focus();
  await page.keyboard.press("Escape");
  await details(page).getByText("Nothing selected").waitFor();
}

/** A point near the foot of the canvas, at least 8 px above its edge, with a slice of its own. */
async function lowestSlice(page) {
  const box = await canvas(page).boundingBox();
  const covered = await page.evaluate(() => Math.min(innerHeight, document.querySelector(".dock").getBoundingClientRect().top));
  const foot = Math.min(box.y + box.height, covered);
  for (let y = foot - 8; y > foot - 300; y -= 9) {
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7]) {
      const x = box.x + 92 + (box.width - 92) * share;
      const name = await sliceAt(page, x, y);
      if (name && !/^[\d,]+ slices/.test(name)) return { x, y, name };
    }
  }
  return assert.fail("no slice near the foot");
}

for (const [device, viewport] of Object.entries(WINDOWS)) {
  test(`a clicked slice stays in sight: ${device}`, app.page(async (page) => {
    await open(page);
    await canvas(page).scrollIntoViewIfNeeded();
    await showDeviceRow(page);
    const frame = await canvas(page).boundingBox();
    const { x, y, name } = await lowestSlice(page);
    const before = await scrolled(page);
    await page.mouse.click(x, y);
    await details(page).getByText("Wall duration").waitFor();
    assert.equal(await details(page).locator("h3").innerText(), name);
    // The slice moved as far as the page and its frame were scrolled, and is not covered there.
    await eventually(async () => {
      const moved = (await scrolled(page)) - before;
      assert.equal(await sliceAt(page, x, y - moved), name, `${moved} px further up`);
    });
    const after = await canvas(page).boundingBox();
    assert.equal(after.height, frame.height, "the frame keeps its height");
    if (device !== "phone") assert.equal(await scrolled(page), before, "nothing is scrolled");
  }, { hash: "#/profile?v=1", context: { viewport } }));
}

test("a higher dock takes room from the timeline, and the selection stays in sight", app.page(async (page) => {
  await open(page);
  await showDeviceRow(page);
  const { x, y, name } = await lowestSlice(page);
  await page.mouse.click(x, y);
  await eventually(async () => assert.equal(await details(page).locator("h3").innerText(), name));
  const { height } = await canvas(page).boundingBox();
  const before = await scrolled(page);
  const edge = await page.getByRole("separator", { name: "Size of the details" }).boundingBox();
  await page.mouse.move(edge.x + edge.width / 2, edge.y + 5);
  await page.mouse.down();
  await page.mouse.move(edge.x + edge.width / 2, edge.y - 95, { steps: 5 });
  await page.mouse.up();
  await eventually(async () => {
    const now = await canvas(page).boundingBox();
    assert.ok(now.height < height - 60, `${height} to ${now.height}`);
    assert.equal(await sliceAt(page, x, y - ((await scrolled(page)) - before)), name);
  });
}, { hash: "#/profile?v=1", context: { viewport: WINDOWS.desk } }));

test("slash goes to the search from any view, and Enter to the first hit and the next ones", app.page(async (page) => {
  await open(page);
  await page.locator(".rail [data-tool='operator-timeline']").focus();
  await page.keyboard.press("/");
  // Enter is pressed before the worker can have answered.
  await page.keyboard.type("aten::conv2d");
  await page.keyboard.press("Enter");
  await details(page).getByText("Wall duration").waitFor();
  assert.match(await details(page).locator("h3").innerText(), /aten::conv2d/);
  const at = page.locator(".timeline-tools .count", { hasText: " of " });
  assert.match(await at.innerText(), /^1 of /);
  await page.keyboard.press("Enter");
  await page.locator(".timeline-tools .count", { hasText: /^2 of / }).waitFor();
  await page.keyboard.press("Shift+Enter");
  await page.locator(".timeline-tools .count", { hasText: /^1 of / }).waitFor();
  // In a field it is a letter.
  await page.keyboard.type("/");
  assert.equal(await page.locator("#timeline-search").inputValue(), "aten::conv2d/");
  // Other views have the search of their table.
  await chooseTool(page, "statistics");
  await page.getByRole("table", { name: "Groups" }).waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.closest("label").innerText.trim()), "Search Groups");
}, { hash: "#/profile?v=1", context: { viewport: WINDOWS.desk } }));

test("what the engines are grouped by is not what Statistics groups by", app.page(async (page) => {
  await waitForState(page, "done");
  const rows = page.getByRole("table", { name: "Groups" }).locator("tbody tr");
  const names = async (tool) => {
    await chooseTool(page, tool);
    await rows.first().waitFor();
    return page.locator("#group-by").inputValue();
  };
  assert.equal(await names("statistics"), "name");
  assert.equal(await names("operator-engine"), "thread");
  assert.equal(await names("statistics"), "name");
  assert.ok((await rows.count()) > 1);
}, { hash: "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=overview" }));
