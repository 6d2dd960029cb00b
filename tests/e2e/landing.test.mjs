// The start page, the overview as the first view, the rail, the dock, and the browser's history.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { appFixture, assertAccessible, chooseTool, editRun, eventually, settledAddress, toolShown, waitForState } from "./support/app.mjs";
import { EXAMPLES } from "./support/examples.mjs";

const app = appFixture();
const TRACES = fileURLToPath(new URL("../it/fixtures/traces", import.meta.url));
const first = (page) => page.getByRole("heading", { name: "What to look at first" });
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const start = (body, options) => app.page(body, { hash: "", ...options });

for (const [name, viewport, colorScheme] of [["desk, light", { width: 1440, height: 900 }, "light"], ["phone, dark", { width: 360, height: 780 }, "dark"]]) {
  test(`the start page fits, and its card runs BERT at once: ${name}`, start(async (page) => {
    assert.equal(await overflow(page), 0);
    await assertAccessible(page);
    await page.getByRole("link", { name: "Profile BERT" }).click();
    await first(page).waitFor();
    await page.getByText("Device window", { exact: true }).first().waitFor();
    assert.equal(await toolShown(page), "overview");
    assert.equal(await overflow(page), 0);
    await assertAccessible(page);
    // The page can be left, and the way back is the start page.
    await page.getByRole("link", { name: "neuronscope" }).click();
    await page.getByRole("heading", { name: "Drop a model or a trace" }).waitFor();
  }, { context: { viewport, colorScheme } }));
}

test("the page of profiles opens with a profile, from its address and from the head; a file makes way for itself", start(async (page) => {
  await page.getByRole("link", { name: "Profile", exact: true }).click();
  await page.getByRole("heading", { name: "bert-base-uncased, batch 8" }).waitFor();
  await waitForState(page, "done");
  await first(page).waitFor();
  assert.equal(await toolShown(page), "overview");
  // The file comes while the example is made, in one turn of the page, so that the example cannot be ready before.
  await page.evaluate(() => {
    localStorage.clear();
    location.hash = "#/";
    location.reload();
  });
  await page.getByRole("heading", { name: "Drop a model or a trace" }).waitFor();
  await page.evaluate(() => {
    const take = () => {
      if (document.documentElement.dataset.state !== "running") return requestAnimationFrame(take);
      const input = document.querySelector("#open-file");
      const files = new DataTransfer();
      files.items.add(new File(["main;load;read 30\nmain;compute 60\n"], "a.collapsed"));
      input.files = files.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    location.hash = "#/profile";
    requestAnimationFrame(take);
  });
  await page.locator('.workspace-view[data-view="flame-graph"]').waitFor();
  await page.getByRole("heading", { name: "a.collapsed" }).waitFor();
  assert.equal(await page.locator(".notice").count(), 0);
}));

test("the sample opens with its overview; each finding leads to where it shows, and Back returns", start(async (page) => {
  await page.getByRole("link", { name: "Open the trace" }).click();
  await first(page).waitFor();
  await page.locator(".ranked .ways button", { hasText: "Idle gaps" }).first().click();
  await page.locator('.workspace-view[data-view="idle-gaps"]').waitFor();
  await page.waitForFunction(() => location.hash.includes("tool=idle-gaps"));
  await page.goBack();
  await page.locator('.workspace-view[data-view="overview"]').waitFor();
  await page.goForward();
  await page.locator('.workspace-view[data-view="idle-gaps"]').waitFor();
}));

test("tools, zooms and jumps are walked through with Back and Forward", app.page(async (page) => {
  await waitForState(page, "done");
  await chooseTool(page, "statistics");
  await page.waitForFunction(() => location.hash.includes("tool=statistics"));
  await chooseTool(page, "operator-timeline");
  await page.waitForFunction(() => location.hash.includes("tool=operator-timeline"));
  await page.getByRole("application", { name: "Timeline" }).focus();
  // It opens where most happens, which adds no entry to the history.
  await page.waitForFunction(() => location.hash.includes("from="));
  await settledAddress(page);
  const opened = await page.evaluate(() => location.hash);
  await page.keyboard.press("w");
  await page.waitForFunction((hash) => location.hash !== hash, opened);
  const zoomed = await page.evaluate(() => location.hash);
  await page.goBack();
  await page.waitForFunction((hash) => location.hash === hash, opened);
  await page.goBack();
  await page.locator('.workspace-view[data-view="statistics"]').waitFor();
  await page.goForward();
  await page.goForward();
  await page.waitForFunction((hash) => location.hash === hash, zoomed);
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

/** Presses Back again as soon as the browser has gone back once, before the page has drawn that. */
const backTwice = (page) => page.evaluate(() => new Promise((gone) => {
  addEventListener("hashchange", () => {
    addEventListener("hashchange", gone, { once: true });
    history.back();
  }, { once: true });
  history.back();
}));

test("two Backs within a frame are two steps, and no entry is made meanwhile", app.page(async (page) => {
  await waitForState(page, "done");
  await chooseTool(page, "statistics");
  await chooseTool(page, "operator-timeline");
  await page.getByRole("application", { name: "Timeline" }).focus();
  await settledAddress(page);
  const length = () => page.evaluate(() => history.length);
  const address = () => page.evaluate(() => location.hash);
  const opened = await address();
  await page.keyboard.press("w");
  await settledAddress(page);
  const zoomed = await address();
  assert.notEqual(zoomed, opened);
  const before = await length();
  await backTwice(page);
  await page.locator('.workspace-view[data-view="statistics"]').waitFor();
  await settledAddress(page);
  assert.match(await address(), /tool=statistics/);
  assert.equal(await length(), before, "no entry was made on the way");
  await page.goForward();
  await page.goForward();
  await page.getByRole("application", { name: "Timeline" }).waitFor();
  await settledAddress(page);
  assert.equal(await address(), zoomed);
  // A Back right after a click returns from that click.
  await page.evaluate(() => new Promise((gone) => {
    addEventListener("hashchange", gone, { once: true });
    document.querySelector('#rail-tools [data-tool="flame-graph"]').click();
    setTimeout(() => history.back(), 30);
  }));
  await page.getByRole("application", { name: "Timeline" }).waitFor();
  await settledAddress(page);
  assert.equal(await address(), zoomed);
}, { hash: "#/profile?v=1&model=nn&tool=overview", context: { viewport: { width: 1440, height: 900 } } }));

test("stacks open as a flame graph, and a tool says what the file lacks for it", app.page(async (page) => {
  await page.locator("#open-file").setInputFiles({ name: "a.collapsed", mimeType: "text/plain", buffer: Buffer.from("main;load;read 30\nmain;compute 60\n") });
  await page.locator('.workspace-view[data-view="flame-graph"]').waitFor();
  const engines = page.locator('[data-tool="operator-engine"]');
  assert.equal(await engines.getAttribute("aria-disabled"), "true");
  // The tool can be pressed all the same.
  await engines.click({ force: true });
  await page.getByText(/Only a profile of one execution on a NeuronCore has rows of engines/).first().waitFor();
  assert.equal(await toolShown(page), "flame-graph");
}, { hash: "#/profile?v=1" }));

test("the rail is walked with arrow keys; the dock keeps its size", app.page(async (page) => {
  await page.locator("#open-file").setInputFiles(`${TRACES}/catapult_nanoseconds.json`);
  await first(page).waitFor();
  await page.locator('[data-tool="overview"]').focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator('.workspace-view[data-view="operator-timeline"]').waitFor();
  const edge = page.getByRole("separator", { name: "Size of the details" });
  const before = Number(await edge.getAttribute("aria-valuenow"));
  await edge.focus();
  await page.keyboard.press("ArrowLeft");
  await eventually(async () => assert.equal(Number(await edge.getAttribute("aria-valuenow")), before + 24));
  await chooseTool(page, "overview");
  await chooseTool(page, "operator-timeline");
  assert.equal(Number(await edge.getAttribute("aria-valuenow")), before + 24);
  await assertAccessible(page);
}, { hash: "#/profile?v=1", context: { viewport: { width: 1440, height: 900 } } }));

test("the form is one line until it is edited, and the overview of a file has its findings", app.page(async (page) => {
  await waitForState(page, "done");
  assert.equal(await page.locator("#profile-form").count(), 0);
  assert.match(await page.locator(".spec-line").innerText(), /nn · mark_step · trn1\.2xlarge\s*Edit/);
  await editRun(page);
  await page.getByLabel("Workflow").selectOption("trace");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".spec-line")?.innerText.includes("trace"));
  // The run that ended folds the form.
  await page.locator("#profile-form").waitFor({ state: "detached" });
  const buffer = readFileSync(`${TRACES}/kineto_resnet50_workers0_a.json.gz`);
  await page.locator("#open-file").setInputFiles({ name: "resnet.json.gz", mimeType: "application/gzip", buffer });
  await page.locator(".ranked h4", { hasText: "DataLoader" }).waitFor();
  await page.locator(".step-columns button").first().waitFor();
  // The chart has a table twin, with a row for each step.
  await page.locator(".step-columns summary").click();
  const twin = page.locator(".step-columns tbody tr");
  await twin.first().waitFor();
  assert.equal(await twin.count(), await page.locator(".step-columns ol li").count());
  assert.match(await page.locator(".step-columns thead").innerText(), /Length \(/);
  await assertAccessible(page);
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

test("Ctrl+K finds tools, pages and slices", app.page(async (page) => {
  await waitForState(page, "done");
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: /^Find a tool/ });
  await field.fill("flame");
  await page.getByRole("option", { name: /Flame graph/ }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await page.locator('.workspace-view[data-view="flame-graph"]').waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("addmm_dot");
  await page.getByRole("option", { name: /^Slice/ }).first().click();
  await page.locator('.workspace-view[data-view="operator-timeline"]').waitFor();
  await page.getByRole("heading", { name: /addmm_dot/ }).first().waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("Numer");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/numerics"));
  // The head has a button for it, which finds models too.
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await field.fill("resnet152");
  await page.getByRole("option", { name: /^Model/ }).first().click();
  await page.waitForFunction(() => /^#\/benchmark\?.*model=resnet152/.test(location.hash));
}, { hash: "#/profile?v=1&model=nn&tool=overview" }));

// Runs in the page, before its own scripts: the content of a tree, without hidden parts and without the space between elements.
function tells() {
  const line = (node, depth) => {
    const indent = " ".repeat(depth);
    if (node.nodeType === Node.TEXT_NODE) return node.data.trim() ? [`${indent}"${node.data.replace(/\s+/g, " ").trim()}"`] : [];
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".notices")) return [];
    // Ignores the state of buttons that wait for the app, and the attribute that marks the static markup.
    const attributes = [...node.attributes].map((a) => `${a.name}=${a.value}`).filter((a) => !/^(disabled|data-static)=/.test(a)).sort();
    return [`${indent}${[node.localName, ...attributes].join(" ")}`, ...[...node.childNodes].flatMap((child) => line(child, depth + 1))];
  };
  window.told = (root) => line(root, 0);
}

test("the start page stands in index.html as the app draws it", app.page(async (page, url) => {
  const drawn = await page.evaluate(() => window.told(document.getElementById("app")));
  const written = await page.evaluate(async (address) => {
    const text = await (await fetch(address)).text();
    const root = new DOMParser().parseFromString(text, "text/html").getElementById("app");
    root.querySelectorAll("main[data-early]").forEach((main) => main.remove());
    return window.told(root);
  }, url);
  assert.deepEqual(written, drawn);
  assert.equal(await page.locator("h1:visible").count(), 1, "it is said once");
}, { hash: "#/", init: tells, context: { colorScheme: "light" } }));

test("the name and the purpose of every page stand in index.html as the page has them", app.page(async (page, url) => {
  const written = await page.evaluate(async (address) => {
    const text = await (await fetch(address)).text();
    const mains = [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("main[data-early]")];
    return mains.map((main) => [main.dataset.early, main.querySelector("h1").textContent, main.querySelector(".lead").textContent]);
  }, url);
  assert.deepEqual(written.map(([path]) => path).sort(), [...EXAMPLES].sort());
  for (const [path, name, purpose] of written) {
    await page.evaluate((hash) => { location.hash = hash; }, `#/${path}?v=1`);
    await eventually(async () => {
      const drawn = await page.evaluate(() => ["h1", ".lead"].map((s) => document.querySelector(`.page ${s}`)?.textContent));
      assert.deepEqual(drawn, [name, purpose], path);
    });
  }
  assert.equal(await page.locator("main[data-early]").count(), 0, "their programs have drawn them");
}, { hash: "#/profile?v=1" }));

test("before its program runs a page says what it is, in the same place", app.page(async (page, url) => {
  for (const [path, program] of [["llm", /lab_bg\.wasm$/], ["profile", /app-[0-9a-f]+_bg\.wasm$/]]) {
    let go;
    const held = new Promise((resolve) => { go = resolve; });
    await page.route(program, async (route) => { await held; await route.continue(); });
    await page.goto("about:blank");
    await page.goto(`${url}#/${path}?v=1`);
    const places = () => page.evaluate(() => [...document.querySelectorAll(".page > :is(h1, .lead)")].filter((e) => e.checkVisibility()).map((e) => {
      const { x, y, width, height } = e.getBoundingClientRect();
      return [e.textContent, x, y, width, height].join(" ");
    }));
    await page.locator("main[data-early] h1:visible").waitFor();
    const before = await places();
    assert.equal(before.length, 2);
    go();
    await page.locator("main:not([data-early], [data-example]) .lead").waitFor();
    assert.deepEqual(await places(), before);
    await page.unroute(program);
  }
}, { open: false }));

test("the timeline of the start page says what the pointer is at", start(async (page) => {
  const picture = page.locator(".landing-picture .frame");
  const caption = page.locator(".landing-picture figcaption");
  const before = await caption.innerText();
  const { x, y, width } = await picture.boundingBox();
  const said = new Set();
  for (let at = 0.2; at < 1; at += 0.02) {
    await page.mouse.move(x + width * at, y + 230);
    said.add(await caption.innerText());
  }
  assert.ok([...said].some((text) => /: .+, [\d.]+ [nµm]s$/.test(text)), [...said].join("; "));
  await page.mouse.move(0, 0);
  await page.waitForFunction((text) => document.querySelector(".landing-picture figcaption").innerText === text, before);
}, { context: { viewport: { width: 1440, height: 900 } } }));

test("before the app runs the start page can be read, its links work, and it stays in place", app.page(async (page, url) => {
  // The app's program is held back until the page has been checked.
  let go;
  const held = new Promise((resolve) => { go = resolve; });
  await page.route(/app-[0-9a-f]+_bg\.wasm$/, async (route) => { await held; await route.continue(); });
  await page.goto(url, { waitUntil: "commit" });
  const places = () => page.evaluate(() => ["h1", ".cards", ".tours", "nav#pages", ".site-tools"].map((s) => {
    const { x, y, width, height } = document.querySelector(s).getBoundingClientRect();
    return [s, x, y, width, height].join(" ");
  }));
  await page.locator("main[data-static] h1").waitFor();
  await page.waitForFunction(() => [...document.images].every((image) => image.complete));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "loading");
  const before = await places();
  await assertAccessible(page);
  go();
  await waitForState(page, "idle");
  assert.equal(await page.locator("main[data-static]").count(), 0);
  assert.deepEqual(await places(), before);
  // With another address it is not shown.
  const other = await page.context().newPage();
  await other.route(/_bg\.wasm$/, (route) => route.abort());
  await other.goto(`${url}#/benchmark`, { waitUntil: "commit" });
  await other.locator("#load-failure").waitFor();
  await other.getByRole("link", { name: "Benchmark", exact: true }).waitFor();
  assert.equal(await other.getByRole("heading", { name: /^How fast/, includeHidden: true }).count(), 1);
  assert.deepEqual(await other.getByRole("heading", { level: 1 }).allTextContents(), ["Benchmark"], "it is not shown");
  await other.close();
}, { open: false, allow: [/_bg\.wasm|could not|Failed to/], context: { colorScheme: "light", serviceWorkers: "block" } }));
