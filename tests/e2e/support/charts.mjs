// The charts of a page under the real mouse. The arrow keys say what each point of a chart is and where it stands; the pointer at that
// place must say the same.
import assert from "node:assert/strict";

/** The figures of a page that have two axes, with their titles. */
export const plots = (page) => page.locator("figure.scatter");

const MOST_POINTS = 400;

/** What the chart says at each of its points: the centre of the ring in the page's pixels relative to the figure, and the text. */
async function pointsByKey(page, figure) {
  const svg = figure.locator("svg[tabindex]");
  await svg.evaluate((e) => e.scrollIntoView({ block: "center" }));
  await page.mouse.move(1, 1);
  await svg.evaluate((e) => e.blur());
  await svg.focus();
  const isLines = await figure.evaluate((e) => e.classList.contains("lines"));
  const read = () => figure.evaluate((e) => {
    const ring = e.querySelector("svg[tabindex] .reader");
    return { x: ring?.getAttribute("cx"), y: ring?.getAttribute("cy"), text: e.querySelector(".readout").textContent };
  });
  const found = [];
  const walk = async () => {
    await page.keyboard.press("Home");
    for (let i = 0; i < MOST_POINTS; i++) {
      const now = await read();
      const last = found.at(-1);
      if (last && i > 0 && last.x === now.x && last.y === now.y && last.text === now.text) return;
      found.push(now);
      await page.keyboard.press("ArrowRight");
    }
  };
  await walk();
  for (let line = 1; isLines && line < 40; line++) {
    const before = await read();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Home");
    const after = await read();
    if (found.some((p) => p.text === after.text && p.x === after.x && p.y === after.y) || before.text === after.text) break;
    await walk();
  }
  await svg.evaluate((e) => e.blur());
  return found;
}

/**
 * Points at each point of a chart, and at each of some presses it; `onPress` gets the text that the chart says there. Returns how many points
 * it has.
 */
export async function pointAtEach(page, figure, onPress) {
  const title = await figure.locator("figcaption").innerText();
  const points = await pointsByKey(page, figure);
  const svg = figure.locator("svg[tabindex]");
  const [, , width] = (await svg.getAttribute("viewBox")).split(" ").map(Number);
  const readout = figure.locator(".readout");
  const scale = (await svg.boundingBox()).width / width;
  for (const point of points) {
    // A press may have moved the chart.
    const box = await svg.boundingBox();
    await page.mouse.move(box.x + point.x * scale, box.y + point.y * scale);
    const text = await readout.textContent();
    // The mouse has whole pixels, rounded down in both directions: marks that are closer than that are one.
    const here = points.filter((p) => Math.hypot(p.x - point.x, p.y - point.y) * scale < 3).map((p) => p.text);
    assert.ok(here.includes(text), `"${title}" says "${text}" where "${here.join('" or "')}" stands`);
    if (onPress) {
      await page.mouse.click(box.x + point.x * scale, box.y + point.y * scale);
      await onPress(text, here);
      await svg.evaluate((e) => e.scrollIntoView({ block: "center" }));
    }
  }
  return points.length;
}
