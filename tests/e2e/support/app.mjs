// Tools for every browser test: the built page served under a sub-path, a Chromium, and pages that fail their test on
// any console message of error level, uncaught error or failed request.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "../../../tools/serve.mjs";
import { delayAnswers, lateness } from "./late.mjs";

/** The folder under test, and the sub-path it is served under: nothing in it may assume the root of a host. */
export const DIST = fileURLToPath(new URL("../../../dist", import.meta.url));
export const BASE = "/demo/neuronscope/";

// Where a failed test leaves a picture of its page.
const ARTIFACTS = fileURLToPath(new URL("../artifacts/", import.meta.url));

/** The first wait covers compiling the app on a busy machine. It is a limit, not a measure. */
export const TIMEOUT_MS = 60_000;

const BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`);
// The sandbox needs privileges that containers lack; the other flags keep the browser from calling home.
const BROWSER_FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the system's Chromium, with more flags if given; $CHROMIUM names another one. */
export async function launch(flags = []) {
  const executablePath = process.env.CHROMIUM ?? BROWSERS.find(existsSync);
  assert.ok(executablePath, "no Chromium found: install it, or set CHROMIUM to its path");
  const start = () => chromium.launch({ executablePath, args: [...BROWSER_FLAGS, ...flags] });
  // Chromium itself crashes about once in a hundred starts, before it has loaded a page: that is not a failure of ours.
  return start().catch((error) => {
    console.error(`the browser did not start, and is started again: ${error.message.split("\n")[0]}`);
    return start();
  });
}

/**
 * Serves dist/ and starts one browser for the tests of a file. Call it once at the top of the file; `page(body)` makes
 * a test function that runs `body(page, url)` in a tab of a browser that holds nothing, and then fails on anything that went
 * wrong in the page.
 */
export function appFixture() {
  // `tab` is left by a test for the next one.
  const fixture = { url: undefined, browser: undefined, page: undefined, tab: undefined };
  fixture.page = (body, options) => (test) => runInPage(fixture, test.name, body, options);
  let server;
  before(async () => {
    assert.ok(existsSync(`${DIST}/index.html`), "dist/ is not built: run ./x build");
    server = await serve({ dir: DIST, base: BASE });
    fixture.url = server.url;
    fixture.browser = await launch();
  });
  after(async () => {
    await fixture.browser?.close();
    await server?.close();
  });
  return fixture;
}

// Methods of a page or its context whose effect outlives a document. A test that calls one of them leaves no tab for the next test.
const LASTING = [
  "addCookies", "addInitScript", "addLocatorHandler", "emulateMedia", "exposeBinding", "exposeFunction", "grantPermissions",
  "newCDPSession", "route", "routeFromHAR", "routeWebSocket", "setDefaultTimeout", "setExtraHTTPHeaders", "setGeolocation",
  "setOffline", "setViewportSize",
];

const countListeners = (page) => page.eventNames().reduce((sum, name) => sum + page.listenerCount(name), 0);

/** A tab in a new context. Only an `isPlain` one can be used again. */
async function openTab(fixture, { context, init, isPlain }) {
  // A service worker copies all of the page into its cache, which takes longer than to open the page: tests that need it ask for it.
  const browserContext = await fixture.browser.newContext({ acceptDownloads: true, serviceWorkers: "block", ...context });
  browserContext.setDefaultTimeout(TIMEOUT_MS);
  if (init) await browserContext.addInitScript(init);
  if (lateness()) await browserContext.addInitScript(delayAnswers, lateness());
  const problems = watch(browserContext, new URL(fixture.url).origin);
  const page = await browserContext.newPage();
  const client = isPlain ? await browserContext.newCDPSession(page) : undefined;
  const tab = { context: browserContext, page, problems, isPlain, client, listeners: countListeners(page) };
  for (const target of [page, browserContext]) {
    for (const method of LASTING.filter((name) => name in target)) {
      const call = target[method];
      target[method] = function (...args) {
        tab.isPlain = false;
        return call.apply(this, args);
      };
    }
  }
  return tab;
}

// Ends the page in the tab, whose process stays: a new one takes as long to start as the programs of the page to compile. What the
// browser keeps of the page goes; `false` if the tab cannot be used again.
async function clearTab(tab, url) {
  if (!tab.isPlain || tab.context.pages().length > 1 || countListeners(tab.page) !== tab.listeners) return false;
  await tab.page.mouse.move(0, 0);
  await tab.page.goto(`${url}icon.svg`);
  await tab.page.evaluate(() => sessionStorage.clear());
  await tab.client.send("Storage.clearDataForOrigin", { origin: new URL(url).origin, storageTypes: "all" });
  return true;
}

/**
 * Options: `open` (default true) loads the page and waits for the app; `hash` is its route; `allow` is a list of
 * patterns of problems that the test expects; `context` goes to the browser context (viewport, permissions, ...); `init` runs
 * in each page before the app.
 */
async function runInPage(fixture, name, body, { open = true, hash = "#/benchmark?v=1", allow = [], context = {}, init } = {}) {
  const isPlain = !init && Object.keys(context).length === 0;
  const tab = (isPlain && fixture.tab) || (await openTab(fixture, { context, init, isPlain }));
  if (tab === fixture.tab) fixture.tab = undefined;
  try {
    if (open) await openApp(tab.page, fixture.url + hash);
    await body(tab.page, fixture.url);
    if (!fixture.tab && (await clearTab(tab, fixture.url))) fixture.tab = tab;
  } catch (error) {
    await keepPicture(tab.context, name);
    // The report of a failed test prints the stack, which holds the message as it was first.
    error.stack += await saidBy(tab.context);
    if (tab.problems.length > 0) error.stack += `\nthe page reported:\n  ${tab.problems.join("\n  ")}`;
    throw error;
  } finally {
    if (tab !== fixture.tab) await tab.context.close();
  }
  const unexpected = tab.problems.splice(0).filter((problem) => !allow.some((pattern) => pattern.test(problem)));
  assert.deepEqual(unexpected, [], "the page reported problems");
}

// Returns the page's state and notices, for the log of a run that nobody watches.
async function saidBy(context) {
  const page = context.pages().at(-1);
  const read = () => [
    `${location.hash.slice(0, 200)} is ${document.documentElement.dataset.state}`,
    ...[...document.querySelectorAll(".notice")].map((notice) => notice.innerText),
  ];
  const late = new Promise((done) => setTimeout(done, 5000, ["it does not answer"]).unref());
  const said = await Promise.race([page?.evaluate(read).catch(() => ["it is gone"]), late]);
  return said ? `\nthe page says:\n  ${said.join("\n  ")}` : "";
}

async function keepPicture(context, name) {
  mkdirSync(ARTIFACTS, { recursive: true });
  const file = `${ARTIFACTS}${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`;
  // The page itself may be broken: the test's own error is the one to show.
  await context.pages().at(-1)?.screenshot({ path: file, fullPage: true, timeout: 5000 }).catch(() => {});
}

// Collects what goes wrong in any page of the context, popups included.
function watch(context, origin) {
  const problems = [];
  context.on("console", (message) => {
    // A tab without a page shows a picture, for which the browser seeks an icon at the root.
    const isOfHost = message.location().url === `${origin}/favicon.ico`;
    if (message.type() === "error" && !isOfHost) problems.push(`console: ${message.text()}`);
  });
  context.on("weberror", (webError) => problems.push(`uncaught: ${webError.error()}`));
  context.on("requestfailed", (request) => {
    // A page that is closed cancels its requests; that is not a failure of the app.
    const reason = request.failure()?.errorText;
    if (reason !== "net::ERR_ABORTED") problems.push(`request: ${request.url()}: ${reason}`);
  });
  context.on("response", (response) => {
    if (response.status() >= 400) problems.push(`response: ${response.url()}: ${response.status()}`);
  });
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.origin !== origin) problems.push(`request elsewhere: ${request.url()}`);
  });
  return problems;
}

/** A link with a wrong version: it fills the form and waits for Run, like every link with an unusable part. */
export const waiting = (hash) => `${hash}&v=none`;

/** Opens a page of the app and waits until its state is no longer "loading". */
export async function openApp(page, url) {
  await page.goto(url, { timeout: TIMEOUT_MS });
  // The stored example of a page does nothing.
  await page.waitForFunction(() => (document.documentElement.dataset.state ?? "loading") !== "loading" && !("example" in document.documentElement.dataset));
}

/**
 * Reloads the page; returns the result that it then shows without a run, as `shown` reads it. The states that the page goes through
 * are watched, because a short run ends before anyone could look.
 */
export async function reloaded(page, shown) {
  await page.addInitScript(() => {
    window.statesSeen = new Set();
    const see = () => window.statesSeen.add(document.documentElement?.dataset.state);
    new MutationObserver(see).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-state"] });
  });
  await page.reload();
  await waitForState(page, "done");
  await page.getByText(/^Kept in this browser since 20\d\d-/).waitFor();
  const seen = await page.evaluate(() => [...window.statesSeen]);
  assert.ok(seen.includes("done") && !seen.includes("running"), `it ran: ${seen}`);
  return shown(page);
}

/** For `init`: the browser refuses to keep anything of this kind, and says so as a full store does. */
export const refuseToKeep = () => {
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, value) {
    if (key.startsWith("neuronscope.sweep.")) throw new DOMException("full", "QuotaExceededError");
    return set.call(this, key, value);
  };
};

/** Waits for `document.documentElement.dataset.state`: loading | idle | running | done | failed. */
export async function waitForState(page, state, { timeout = TIMEOUT_MS } = {}) {
  const current = () => page.evaluate(() => document.documentElement.dataset.state);
  try {
    const isThere = (wanted) => document.documentElement.dataset.state === wanted && !("example" in document.documentElement.dataset);
    await page.waitForFunction(isThere, state, { timeout });
  } catch (error) {
    error.stack = `the page's state is "${await current()}", not "${state}": ${error.stack}`;
    throw error;
  }
}

/** Repeats a check until it holds: the page draws a moment after an action. */
export async function eventually(check) {
  const end = Date.now() + TIMEOUT_MS / 2;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((next) => setTimeout(next, 50));
    }
  }
}

/** Waits until the page has drawn the last action and its address reflects it; returns the fields of the address. */
export async function settledAddress(page) {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
  // Drawing may move the view once more.
  for (let i = 0; i < 2; i++) {
    await page.evaluate(drawn);
    await page.waitForFunction(() => !document.documentElement.hasAttribute("data-address-pending"));
  }
  return new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]);
}

// Smaller than the readable source by half, and a page needs as long to take it in as to be checked.
const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Fails with a readable list when axe finds something in the page as it is now. */
export async function assertAccessible(page, { exclude = [], rules = {} } = {}) {
  // The page of another address is drawn when its program has arrived; until then its name stands there, and no target for the skip link.
  await page.locator("main:not([data-early]):visible").first().waitFor();
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  // What passes is only counted: axe need not find a selector for each of its elements.
  const { passes, violations } = await page.evaluate(
    async ([excluded, ruleOptions]) => {
      const results = await window.axe.run({ exclude: excluded }, { rules: ruleOptions, resultTypes: ["violations"] });
      return { passes: results.passes.length, violations: results.violations };
    },
    [exclude, rules],
  );
  assert.ok(passes > 0, "axe checked nothing");
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.target.join(" ")).join("; ")}`,
  );
  assert.deepEqual(found, [], "accessibility");
}

/** Chooses a tool of the profile page by its id; on small screens the rail is opened first. */
export async function chooseTool(page, id) {
  const item = page.locator(`#rail-tools [data-tool="${id}"]`);
  await item.waitFor({ state: "attached" });
  if (!(await item.isVisible())) await page.locator(".rail-toggle").click();
  await item.click();
  await page.locator(`.workspace-view[data-view="${id}"]`).waitFor();
}

/** The id of the shown tool. */
export const toolShown = (page) => page.locator(".workspace-view").getAttribute("data-view");

/** Opens the menu that has an entry with this name, and returns the entry. */
export async function menuEntry(page, name) {
  const has = page.getByRole("button", { name, exact: true, includeHidden: true });
  const menu = page.locator("details.menu").filter({ has });
  await menu.locator("summary").click();
  return menu.getByRole("button", { name, exact: true });
}

/** Opens the copy menu; returns it once its entries are there. */
export async function copyMenu(page) {
  const menu = page.locator("details.menu").filter({ has: page.locator('[data-copy="link"]') });
  await menu.locator("summary").click();
  await menu.locator('[data-copy="link"]').waitFor();
  return menu;
}

/** Unfolds the form above a profile, if it is folded. */
export async function editRun(page) {
  const line = page.locator(".spec-line");
  if ((await line.count()) && (await line.getAttribute("aria-expanded")) === "false") await line.click();
}

/** Opens the drawer of a page's form, if the page has one and it is folded. */
export async function editForm(page) {
  const edit = page.locator("main:not([data-example]) .form-bar .edit");
  if ((await edit.count()) && (await edit.getAttribute("aria-expanded")) === "false") await edit.click();
}

/** Chooses the level that a tool looks at; `all` takes every slice. */
export async function chooseLevel(page, level = "all") {
  await page.getByLabel("Level", { exact: true }).selectOption(level);
  await waitForAnswers(page);
}

/** Counts all slices of a file, each name by itself, as facts about files do. */
export async function countAllSlices(page) {
  await waitForAnswers(page);
  if (await page.getByLabel("Level", { exact: true }).count()) await chooseLevel(page);
  await countEachName(page);
}

/** Counts each name by itself, as facts about files do; tools without the box keep what was chosen. */
export async function countEachName(page) {
  // The box comes with the tool.
  await waitForAnswers(page);
  const box = page.getByLabel("Merge instances");
  if (await box.count()) await box.uncheck();
  await waitForAnswers(page);
}

// Until a changed setting is drawn, a tool has the answer of the one before; then it counts.
async function waitForAnswers(page) {
  await settledAddress(page);
  await page.waitForFunction(() => ![...document.querySelectorAll('main [role="status"]')].some((status) => /^(Counting|Simulates)/.test(status.textContent)));
}

/** Clicks the element of `locator` and returns the downloaded file's name and bytes. */
export async function download(page, locator) {
  const [started] = await Promise.all([page.waitForEvent("download"), locator.click()]);
  const chunks = [];
  for await (const chunk of await started.createReadStream()) chunks.push(chunk);
  return { name: started.suggestedFilename(), bytes: Buffer.concat(chunks) };
}
