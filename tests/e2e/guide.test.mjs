// The guide: chapters, examples that open with a click and run by themselves, a study that runs in place.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, assertAccessible, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const guide = (body, options) => app.page(body, { hash: "#/guide", ...options });

test("every example of the guide opens and comes to a result", guide(async (page, url) => {
  await page.getByRole("heading", { level: 1, name: "Guide" }).waitFor();
  await assertAccessible(page);
  const links = await page.locator(".guide .card a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.ok(links.length >= 8, links.join(" "));
  for (const [i, link] of links.entries()) {
    await openApp(page, `${url}?${i}${link}`);
    await waitForState(page, "done", { timeout: 180_000 });
    assert.equal(await page.locator(".notice.bad").count(), 0, link);
  }
}));

test("the keyboard leads to a chapter, and a study runs in place", guide(async (page) => {
  const way = page.getByRole("navigation", { name: "Chapters" }).getByRole("button", { name: "Write a custom operator" });
  await way.focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "guide-operators");
  await page.getByRole("button", { name: "Run here: ReLU, an element at a time" }).click();
  const card = page.locator(".guide .card", { hasText: "ReLU, an element at a time" });
  await card.locator(".document .tiles").first().waitFor();
  await assertAccessible(page);
  // The example's own page has this result already, and it is still here after Back.
  const result = async (place) => (await place.locator(".document").innerText()).trim();
  await card.getByRole("button", { name: /^Cancel/ }).waitFor({ state: "detached" });
  const before = await result(card);
  await card.getByRole("link", { name: /^Open/ }).click();
  await page.getByText(/^Kept in this browser since/).waitFor();
  assert.equal(await result(page.locator("main")), before);
  await page.goBack();
  await card.locator(".document .tiles").first().waitFor();
  assert.equal(await result(card), before);
}));

test("the guide is found from the start page, the head and Ctrl+K, and fits a phone", app.page(async (page) => {
  await page.getByRole("link", { name: "Read the guide" }).click();
  await page.getByRole("heading", { level: 1, name: "Guide" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await assertAccessible(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Find a tool/ }).fill("guide");
  await page.getByRole("option", { name: "Guide" }).first().waitFor();
}, { hash: "#/", context: { viewport: { width: 390, height: 844 } } }));
