// The page starts from a sub-path, stays within its own origin, and its worker starts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { appFixture, assertAccessible, DIST, editForm, waitForState } from "./support/app.mjs";

const app = appFixture();

/** Where the browser has what is named "left". */
const leftovers = (page) => page.evaluate(async () => {
  const files = [];
  for await (const name of (await navigator.storage.getDirectory()).keys()) files.push(name);
  const places = {
    local: localStorage.getItem("left") !== null,
    session: sessionStorage.getItem("left") !== null,
    cookie: document.cookie.includes("left"),
    cache: await caches.has("left"),
    file: files.includes("left"),
    database: (await indexedDB.databases()).some(({ name }) => name === "left"),
  };
  return Object.keys(places).filter((place) => places[place]);
});

test("the page starts without an error", app.page(async (page) => {
  assert.match(await page.title(), /neuronscope/);
  const state = await page.evaluate(() => document.documentElement.dataset.state);
  assert.equal(state, "idle");
}));

test("the page starts with its service worker, and again below it", app.page(async (page) => {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.reload();
  await waitForState(page, "idle");
  assert.ok(await page.evaluate(() => navigator.serviceWorker.controller !== null));
}, { context: { serviceWorkers: "allow" } }));

// Two tests of a file may use one tab, and the second must not find what the first left.
test("a test leaves something of every kind in the browser", app.page(async (page) => {
  await page.evaluate(async () => {
    localStorage.setItem("left", "1");
    sessionStorage.setItem("left", "1");
    document.cookie = "left=1";
    await caches.open("left");
    const folder = await navigator.storage.getDirectory();
    await folder.getFileHandle("left", { create: true });
    await new Promise((resolve, reject) => Object.assign(indexedDB.open("left"), { onsuccess: resolve, onerror: reject }));
  });
  assert.deepEqual(await leftovers(page), ["local", "session", "cookie", "cache", "file", "database"]);
}));

test("the next test finds nothing of it", app.page(async (page) => assert.deepEqual(await leftovers(page), [])));

test("the app's module was preloaded and fetched once", app.page(async (page) => {
  const wasm = await page.evaluate(() =>
    performance.getEntriesByType("resource").filter((entry) => /\/app-[0-9a-f]+_bg\.wasm$/.test(entry.name)).length);
  assert.equal(wasm, 1);
}));

test("the first page has no accessibility violation", app.page((page) => assertAccessible(page), { hash: "" }));

test("Back returns to the page before, as it was left; an edited address is read", app.page(async (page) => {
  const nav = (name) => page.getByRole("navigation").getByRole("link", { name, exact: true });
  await editForm(page);
  await page.getByLabel("Seed", { exact: true }).fill("7");
  await page.waitForFunction(() => /seed=7/.test(location.hash));
  await nav("Profile").click();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await page.goBack();
  await page.waitForFunction(() => /^#\/benchmark.*seed=7/.test(location.hash));
  await page.getByRole("heading", { level: 1, name: "Benchmark" }).waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Seed", { exact: true }).inputValue(), "7");
  await page.goForward();
  await page.waitForFunction(() => location.hash.startsWith("#/profile"));
  await page.evaluate(() => { location.hash = "#/benchmark?v=1&seed=9"; });
  await page.getByRole("heading", { level: 1, name: "Benchmark" }).waitFor();
  await editForm(page);
  assert.equal(await page.getByLabel("Seed", { exact: true }).inputValue(), "9");
}));

test("the worker starts from its loader and answers", app.page(async (page) => {
  const answered = await page.evaluate(() => new Promise((resolve, reject) => {
    const worker = new Worker("./worker_loader.js", { type: "module" });
    worker.onmessage = () => resolve(true);
    worker.onerror = (event) => reject(new Error(event.message ?? "the worker did not load"));
  }));
  assert.equal(answered, true);
}));

test("the policy refuses to send anything elsewhere", app.page(async (page) => {
  const refused = await page.evaluate(async () => {
    const violation = new Promise((resolve) => {
      document.addEventListener("securitypolicyviolation", (event) => resolve(event), { once: true });
    });
    const outcome = await fetch("https://example.com/").then(() => "sent", () => "refused");
    const { effectiveDirective, blockedURI } = await violation;
    return { outcome, effectiveDirective, blockedURI };
  });
  assert.deepEqual(refused, { outcome: "refused", effectiveDirective: "connect-src", blockedURI: "https://example.com/" });
}, { allow: [/example\.com/, /Content Security Policy/] }));

test("the policy refuses to submit a form", app.page(async (page) => {
  const refused = await page.evaluate(() => new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
    const form = Object.assign(document.createElement("form"), { action: "https://example.com/", method: "post" });
    document.body.append(form);
    form.submit();
  }));
  assert.equal(refused, "form-action");
}, { allow: [/example\.com/, /Content Security Policy/] }));

test("the policy refuses inline and evaluated scripts", app.page(async (page) => {
  const ran = await page.evaluate(async () => {
    // The driver's own call may evaluate text; a later task of the page may not.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const script = document.createElement("script");
    script.textContent = "window.inlineRan = true";
    document.head.append(script);
    let evaluated = false;
    try {
      evaluated = new Function("return true")();
    } catch {
      // Refused, as it should be.
    }
    return { inline: window.inlineRan === true, evaluated };
  });
  assert.deepEqual(ran, { inline: false, evaluated: false });
}, { allow: [/Content Security Policy/] }));

test("the built page names no other host and no absolute path", () => {
  const html = readFileSync(`${DIST}/index.html`, "utf8");
  const targets = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map((match) => match[1]);
  assert.ok(targets.length > 0);
  assert.deepEqual(targets.filter((target) => /^(\/|[a-z]+:\/\/)/i.test(target)), []);
});
