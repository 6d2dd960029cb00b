// What a page shows for its own example, as markup that needs no program (www/early.js shows it).
import { waitForState } from "./app.mjs";

/** Pages that open with a result, by the path of their address. */
export const EXAMPLES = ["benchmark", "profile", "inspect", "llm", "numerics", "fidelity", "matmult", "customop", "nki", "experiments", "guide"];

/** Windows for which an example is stored, by the end of the file's name. */
export const WIDTHS = { phone: { width: 412, height: 823 }, desk: { width: 1350, height: 940 } };

const SETTLES_MS = 500;

/** The markup of a page's example: the parts that begin in the first screens, without names and places of focus of the living page. */
export async function storedExample(browser, url, path, width) {
  const page = await browser.newPage({ viewport: WIDTHS[width], colorScheme: "light", serviceWorkers: "block" });
  try {
    // Without what is stored, the page shows only what it computes.
    await page.route("**/examples/*", (route) => route.abort());
    await page.goto(`${url}#/${path}`);
    await waitForState(page, path === "guide" ? "idle" : "done");
    // A page that has its result draws some of its parts a moment later, and a sentence about it comes from a worker.
    await page.waitForFunction(() => !document.querySelector(".limiter:empty") && !document.body.textContent.includes("being computed"));
    for (let before = "", now = await page.evaluate(takeMarkup); ; before = now, now = await page.evaluate(takeMarkup)) {
      if (now === before) return now;
      await page.waitForTimeout(SETTLES_MS);
    }
  } finally {
    await page.close();
  }
}

// Runs in the page.
function takeMarkup() {
  const LAST_BEGIN_PX = 1067;
  const main = document.querySelector("main:not([data-early], [data-example])");
  // Marks what begins too far below, before the copy loses its places. A chart or a row is whole or not there: where it would be cut
  // depends on fonts.
  const isTooFar = (e) => e.getBoundingClientRect().top - main.getBoundingClientRect().top > LAST_BEGIN_PX;
  const leave = [...main.querySelectorAll("*")].filter((e) => isTooFar(e.closest("svg, tr, li, .tree-row, .field, p") ?? e));
  for (const element of leave) element.toggleAttribute("data-leave", true);
  // Names by labels would need ids.
  for (const field of main.querySelectorAll("input, select, textarea")) {
    if (!field.ariaLabel && field.labels?.length) field.ariaLabel = field.labels[0].textContent.trim();
  }
  const copy = main.cloneNode(true);
  for (const element of leave) element.removeAttribute("data-leave");
  for (const element of copy.querySelectorAll("[data-leave], [hidden], dialog, .notices, script")) element.remove();
  const refers = ["for", "aria-controls", "aria-describedby", "aria-labelledby", "aria-owns", "aria-activedescendant", "list", "id", "name", "autofocus"];
  for (const element of copy.querySelectorAll("*")) {
    for (const name of refers) element.removeAttribute(name);
    // Their order differs from run to run.
    const attributes = [...element.attributes].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name } of attributes) element.removeAttribute(name);
    for (const { name, value } of attributes) element.setAttribute(name, value);
    if (element.matches("input, select, textarea, button, summary, [tabindex], label.button")) element.setAttribute("tabindex", "-1");
    if (element.matches("textarea")) element.textContent = element.value;
    if (element.matches("input:not([type=checkbox]):not([type=radio]):not([type=file])")) element.setAttribute("value", element.value);
  }
  // A run is named after the time at which it began.
  return `${copy.innerHTML.replace(/\b\d{4}(_\d+){6,}\b/g, "\u2026")}\n`;
}
