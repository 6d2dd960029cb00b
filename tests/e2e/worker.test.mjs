// A worker that does not start, dies or is from another build: the page says so, names the input, and goes on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appFixture, editRun, waitForState } from "./support/app.mjs";

const app = appFixture();
const plain = { open: false, context: { serviceWorkers: "block" } };
// A worker of an isolated page must request isolation too.
const script = (body) => ({ contentType: "text/javascript", body, headers: { "Cross-Origin-Embedder-Policy": "require-corp" } });

test("a worker that cannot load says so", app.page(async (page, url) => {
  await page.route("**/viewer.js", (route) => route.fulfill(script("throw new Error('broken on purpose')")));
  await page.goto(url);
  await waitForState(page, "failed");
  await page.getByRole("alert").filter({ hasText: /worker stopped/ }).waitFor();
}, { ...plain, allow: [/broken on purpose/] }));

// Panics when it is given a file of that name, as the worker does on a bug: it sends its last words, then throws an uncaught error.
const DYING_LOADER = `
  import init from "./viewer.js";
  const early = [];
  self.onmessage = (event) => early.push(event);
  await init();
  const work = self.onmessage;
  self.onmessage = (event) => {
    if (event.data[1]?.name !== "deadly.json") return work.call(self, event);
    self.postMessage("panicked at reader.rs: index out of bounds");
    throw new Error("unreachable");
  };`;

test("a worker that dies names its input; the next run works and what was open stays", app.page(async (page, url) => {
  await page.route("**/viewer_loader.js", (route) => route.fulfill(script(DYING_LOADER)));
  await page.goto(`${url}#/profile?tool=operator-timeline`);
  await waitForState(page, "idle");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
  await page.locator("#open-file").setInputFiles({ name: "deadly.json", mimeType: "application/json", buffer: Buffer.from("[]") });
  await waitForState(page, "failed");
  const said = await page.getByRole("alert").filter({ hasText: "deadly.json" }).innerText();
  assert.match(said, /index out of bounds/);
  await page.getByRole("button", { name: /^Show .* again$/ }).click();
  assert.equal(await page.getByRole("application", { name: "Timeline" }).isVisible(), true);
  await editRun(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
}, { ...plain, allow: [/unreachable/] }));

// As a browser does that is short of memory: no event says that the worker is gone.
const VANISHING_LOADER = DYING_LOADER.replace(/self\.postMessage\([^;]*;\s*throw [^;]*;/, "self.close();");

test("a worker that vanishes without a word is said, and another takes its place", app.page(async (page, url) => {
  assert.match(VANISHING_LOADER, /self\.close/);
  await page.route("**/viewer_loader.js", (route) => route.fulfill(script(VANISHING_LOADER)));
  await page.goto(`${url}#/profile?tool=operator-timeline`);
  await waitForState(page, "idle");
  // The second worker starts with the file: it ends as soon as it is ready.
  for (const name of ["deadly.json", "deadly.json"]) {
    await page.locator("#open-file").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from("[]") });
    await waitForState(page, "failed");
    await page.getByRole("alert").filter({ hasText: /stopped during.*deadly\.json.*the browser closed it/ }).waitFor();
  }
  const event = '[{"ph":"X","ts":0,"dur":5,"name":"a","pid":1,"tid":1}]';
  await page.locator("#open-file").setInputFiles({ name: "good.json", mimeType: "application/json", buffer: Buffer.from(event) });
  await waitForState(page, "done");
}, plain));

test("a worker of another build is refused", app.page(async (page, url) => {
  const old = `self.postMessage([new Uint8Array([0, 99, 3, 111, 108, 100])]);`; // Ready { protocol: 99, build: "old" }
  await page.route("**/viewer_loader.js", (route) => route.fulfill(script(old)));
  await page.goto(url);
  await waitForState(page, "failed");
  await page.getByRole("alert").filter({ hasText: /another build.*reload the page/ }).waitFor();
}, plain));
