// Whether the page shows what its address asks for: address, heading, bar and figures name the same model, file and settings.
import assert from "node:assert/strict";
import { settledAddress } from "./app.mjs";

const SETTLED = ["idle", "done", "failed"];

/** Waits until nothing runs, is read or is about to be shown. */
export async function settled(page) {
  await page.waitForFunction((states) => states.includes(document.documentElement.dataset.state) && !("example" in document.documentElement.dataset), SETTLED);
  await settledAddress(page);
}

/** What the page says that it is about, and what its figures are of. */
export const subjectOf = (page) =>
  page.evaluate(() => {
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
    const texts = (selector) => [...document.querySelectorAll(selector)].filter(isSeen).map((element) => element.textContent.trim());
    return {
      hash: location.hash,
      state: document.documentElement.dataset.state,
      // What each drawn result is of, as the hash of its request.
      requests: [...document.querySelectorAll("[data-request]")].filter((element) => isSeen(element) || element.querySelector(".tiles, .document")?.checkVisibility({ visibilityProperty: true })).map((element) => element.dataset.request),
      bar: texts("main:not([data-early]) .form-bar .what")[0] ?? null,
      heading: [...document.querySelectorAll("main:not([data-early]) :is(h1, #run-title)")].filter((h) => h.checkVisibility()).map((h) => h.textContent.trim()).at(-1) ?? null,
      run: document.querySelector("#profile-run")?.selectedOptions[0]?.textContent ?? null,
      tiles: texts("main:not([data-early]) .tiles .tile").length,
      notices: texts(".notice"),
    };
  });

const fields = (hash) => new URLSearchParams(hash.split("?")[1] ?? "");
/** The name of a model for people: of a file its name. */
const label = (model) => model.replace(/~.*/, "").replace(/^file:([^@]*)@.*$/, "$1");

/**
 * Fails if figures are drawn that are not of what the address asks for, or if heading or bar name something else. Returns what the page
 * is about.
 */
export async function assertOneSubject(page, said = "", examples = new Map()) {
  await settled(page);
  const now = await subjectOf(page);
  const context = `${said} ${JSON.stringify(now)}`;
  for (const request of now.requests) {
    assert.equal(request.split("?")[0], now.hash.split("?")[0], `the page of the figures: ${context}`);
    const [asked, address] = [fields(request), fields(now.hash)];
    asked.delete("tool");
    // An address without fields is that of the page's own example.
    if (!now.hash.includes("?") && examples.has(now.hash)) assert.equal(request, examples.get(now.hash), `the example: ${context}`);
    if (now.hash.includes("?")) for (const [key, value] of asked) assert.equal(address.get(key), value, `${key} of the figures: ${context}`);
    const model = asked.get("model");
    if (now.bar !== null && model && !asked.get("config")) assert.ok(now.bar.includes(label(model)), `the bar names ${model}: ${context}`);
    const file = asked.get("file");
    if (file) assert.ok(now.heading.startsWith(file) || now.run?.startsWith(file), `the heading names ${file}: ${context}`);
    else if (now.hash.startsWith("#/profile")) assert.ok(now.run?.startsWith(label(model)), `the run is of ${model}: ${context}`);
  }
  if (now.requests.length === 0 && now.state === "failed") assert.equal(now.tiles, 0, `figures stand beside an error: ${context}`);
  return now;
}
