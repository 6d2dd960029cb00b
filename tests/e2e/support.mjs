// Tools for every browser test: the built page served under a sub-path, a Chromium, and pages that fail their test on
// any console message of error level, uncaught error or failed request.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { serve } from "../../tools/serve.mjs";
import { delayAnswers, lateness } from "./late.mjs";

/** The folder under test, and the sub-path it is served under: nothing in it may assume the root of a host. */
export const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
export const BASE = "/demo/neuronscope/";

// Where a failed test leaves a picture of its page.
const ARTIFACTS = fileURLToPath(new URL("artifacts/", import.meta.url));

/** The first wait covers compiling the app on a busy machine. It is a limit, not a measure. */
export const TIMEOUT_MS = 60_000;

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
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
 * a test function that runs `body(page, url)` in a fresh context and then fails on anything that went wrong in the page.
 */
export function appFixture() {
  const fixture = { url: undefined, browser: undefined, page: undefined };
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

/**
 * Options: `open` (default true) loads the page and waits for the app; `hash` is its route; `allow` is a list of
 * patterns of problems that the test expects; `context` goes to the browser context (viewport, permissions, ...); `init` runs
 * in each page before the app.
 */
async function runInPage(fixture, name, body, { open = true, hash = "#/benchmark", allow = [], context = {}, init } = {}) {
  const browserContext = await fixture.browser.newContext({ acceptDownloads: true, ...context });
  browserContext.setDefaultTimeout(TIMEOUT_MS);
  if (init) await browserContext.addInitScript(init);
  if (lateness()) await browserContext.addInitScript(delayAnswers, lateness());
  const problems = watch(browserContext, new URL(fixture.url).origin);
  try {
    const page = await browserContext.newPage();
    if (open) await openApp(page, fixture.url + hash);
    await body(page, fixture.url);
  } catch (error) {
    await keepPicture(browserContext, name);
    // The report of a failed test prints the stack, which holds the message as it was first.
    error.stack += await saidBy(browserContext);
    if (problems.length > 0) error.stack += `\nthe page reported:\n  ${problems.join("\n  ")}`;
    throw error;
  } finally {
    await browserContext.close();
  }
  const unexpected = problems.filter((problem) => !allow.some((pattern) => pattern.test(problem)));
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
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
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
  await page.waitForFunction(() => (document.documentElement.dataset.state ?? "loading") !== "loading");
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
    await page.waitForFunction((wanted) => document.documentElement.dataset.state === wanted, state, { timeout });
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

/** Fails with a readable list when axe finds something in the page as it is now. */
export async function assertAccessible(page, { exclude = [], rules = {} } = {}) {
  // The page of another address is drawn when its program has arrived.
  await page.locator("main").first().waitFor();
  await page.evaluate(axe.source);
  const results = await page.evaluate(
    ([excluded, ruleOptions]) => window.axe.run({ exclude: excluded }, { rules: ruleOptions }),
    [exclude, rules],
  );
  assert.ok(results.passes.length > 0, "axe checked nothing");
  const found = results.violations.map(
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

/** Chooses the level that a tool looks at; `all` takes every slice. */
export async function chooseLevel(page, level = "all") {
  await page.getByLabel("Level", { exact: true }).selectOption(level);
}

/** Clicks the element of `locator` and returns the downloaded file's name and bytes. */
export async function download(page, locator) {
  const [started] = await Promise.all([page.waitForEvent("download"), locator.click()]);
  const chunks = [];
  for await (const chunk of await started.createReadStream()) chunks.push(chunk);
  return { name: started.suggestedFilename(), bytes: Buffer.concat(chunks) };
}
