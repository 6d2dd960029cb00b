// Random actions from a seed: actions of users, and failures around them. `soak(browser, url, { seed, actions })` returns what was
// observed; it throws if the page wrote to its console, or lost a finished result.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { serve } from "../../../tools/serve.mjs";
import { BASE, DIST, launch, openApp } from "../support/app.mjs";
import { random } from "../support/walk.mjs";

const TRACES = fileURLToPath(new URL("../../it/fixtures/traces/", import.meta.url));
const FILES = ["catapult_simple_trace.json", "hta_amd_mi250_minitoy.json.gz", "catapult_flow_simple.json", "fxprofiler_hello.cjs-20231120T211435.cpuprofile"];
const BAD = [
  { name: "empty.json", buffer: Buffer.alloc(0) },
  { name: "notes.txt", buffer: Buffer.from("no trace at all") },
  { name: "cut.json", buffer: Buffer.from('{"traceEvents":[{"ph":"X","ts":1,"dur":2,"name":"a","pid":1,"ti') },
  { name: "cut.gz", buffer: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2]) },
];
const KEYS = ["w", "s", "a", "d", "0", "f", "Enter", "ArrowRight", "ArrowDown", "m", "r", "p", "Escape", "Control+z", "]", "["];
const PAGES = ["benchmark", "profile", "inspect", "numerics", "matmult", "customop", "experiments", ""];
const SETTLED = ["idle", "done", "failed"];

// Runs in the page: remembers workers, so that one can be killed, as a browser short of memory would do.
function rememberWorkers() {
  const all = new Set();
  window.soakWorkers = all;
  const Original = window.Worker;
  window.Worker = class extends Original {
    constructor(...given) {
      super(...given);
      all.add(this);
    }
    terminate() {
      all.delete(this);
      super.terminate();
    }
  };
}

const settle = (page) => page.waitForFunction((settled) => settled.includes(document.documentElement.dataset.state), SETTLED);

/** Presses the element of a locator, if it exists and can be pressed. */
async function press(page, locator) {
  const count = await locator.count();
  if (count === 0) return false;
  await locator.first().click({ timeout: 3000 }).catch(() => {});
  return true;
}

const actions = {
  async tool(page, pick) {
    const all = page.locator("#rail-tools [data-tool]:not([aria-disabled])");
    const count = await all.count();
    if (count > 0) await all.nth(Math.floor(pick() * count)).click({ timeout: 3000 }).catch(() => {});
  },
  async key(page, pick) {
    const canvas = page.getByRole("application", { name: "Timeline" });
    if (await canvas.count()) await canvas.first().focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press(KEYS[Math.floor(pick() * KEYS.length)]);
  },
  async page(page, pick) {
    await page.evaluate((to) => { location.hash = `#/${to}`; }, PAGES[Math.floor(pick() * PAGES.length)]);
    await settle(page);
  },
  async file(page, pick) {
    await page.locator("#open-file").setInputFiles(TRACES + FILES[Math.floor(pick() * FILES.length)]);
    await settle(page);
  },
  async badFile(page, pick) {
    await page.locator("#open-file").setInputFiles({ mimeType: "", ...BAD[Math.floor(pick() * BAD.length)] });
    await settle(page);
  },
  async badLink(page, pick) {
    const links = ["#/profile?v=99&tool=nothing&from=x", "#/benchmark?batch_sizes=0,-1,huge", "#/profile?v=1&marks=~~;;&pin=x.y", "#/nowhere"];
    await page.evaluate((to) => { location.hash = to; }, links[Math.floor(pick() * links.length)]);
    await settle(page);
  },
  async run(page) {
    await page.evaluate(() => { location.hash = "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=overview"; });
    await settle(page);
    await press(page, page.getByRole("button", { name: "Run", exact: true }));
  },
  async finder(page, pick) {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(["a", "th", "over", "fused", "dark", "'"][Math.floor(pick() * 6)]);
    await page.keyboard.press(pick() < 0.5 ? "Enter" : "Escape");
    if (await page.locator("#finder").count()) await page.keyboard.press("Escape");
  },
  async back(page) {
    await page.goBack({ timeout: 10_000 }).catch(() => {});
    // The history begins with an empty page.
    if (!page.url().startsWith("http")) await page.goForward();
    await settle(page);
  },
  async reload(page) {
    await page.reload();
    await settle(page);
  },
  async kill(page, pick) {
    const share = pick();
    await page.evaluate((share) => {
      const all = [...window.soakWorkers];
      const worker = all[Math.floor(share * all.length)];
      // A worker that dies sends an error event; its memory is gone.
      if (worker) {
        Object.getPrototypeOf(Object.getPrototypeOf(worker)).terminate.call(worker);
        worker.dispatchEvent(new ErrorEvent("error", { message: "killed", cancelable: true }));
        window.soakWorkers.delete(worker);
      }
    }, share);
  },
  async fullStore(page) {
    await page.evaluate(() => {
      try {
        for (let i = 0; i < 12; i++) localStorage.setItem(`soak-${i}`, "x".repeat(1 << 19));
      } catch {
        // That is what was wanted.
      }
    });
  },
  async emptyStore(page) {
    await page.evaluate(() => { for (let i = 0; i < 12; i++) localStorage.removeItem(`soak-${i}`); });
  },
};

/** Bytes that the page's scripts hold after garbage collection. */
async function heldBytes(client) {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  return usedSize;
}

/** Sweeps once, so that there is a result that must not be lost. Gives its number of rows. */
async function finishSweep(page, url) {
  await openApp(page, `${url}#/benchmark?v=1&model=nn&batch_sizes=1&n_models=1&workers_per_model=1,2&duration=1`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForFunction(() => document.documentElement.dataset.state === "done");
  return page.locator(".results-table tbody tr").count();
}

/** Runs the actions; returns how often each was done, and the held bytes before and after. */
export async function soak(browser, url, { seed, count, say = () => {} }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(60_000);
  const problems = [];
  // A killed worker or a refused file is reported on the page; the console stays quiet.
  context.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
  context.on("weberror", (error) => problems.push(`uncaught: ${error.error()}`));
  await context.addInitScript(rememberWorkers);
  const done = {};
  try {
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    const rows = await finishSweep(page, url);
    assert.ok(rows > 0, "the sweep has rows");
    // The seed alone decides which actions come; a second sequence of numbers decides what they choose.
    const [choose, pick] = [random(seed), random(seed + 1)];
    const names = Object.keys(actions);
    const before = await heldBytes(client);
    for (let i = 0; i < count; i++) {
      const name = names[Math.floor(choose() * names.length)];
      say(`${i} ${name}`);
      done[name] = (done[name] ?? 0) + 1;
      try {
        await actions[name](page, pick);
      } catch (error) {
        error.message = `action ${i} of seed ${seed}, ${name}: ${error.message}`;
        throw error;
      }
      assert.deepEqual(problems, [], `after action ${i} of seed ${seed}, ${name}`);
    }
    await actions.emptyStore(page);
    const after = await heldBytes(client);
    await page.goto(`${url}#/benchmark`);
    await page.reload();
    await settle(page);
    await page.waitForFunction((rows) => document.querySelectorAll(".results-table tbody tr").length >= rows, rows);
    assert.deepEqual(problems, [], "at the end");
    return { done, before, after };
  } finally {
    await context.close();
  }
}

/** The long soak of `./x bench`: NEURONSCOPE_SOAK_ACTIONS (500) actions from NEURONSCOPE_SOAK_SEED (2026). */
async function main() {
  const count = Number(process.env.NEURONSCOPE_SOAK_ACTIONS ?? 500);
  const seed = Number(process.env.NEURONSCOPE_SOAK_SEED ?? 2026);
  const server = await serve({ dir: DIST, base: BASE });
  const browser = await launch();
  try {
    const say = process.env.NEURONSCOPE_SOAK_SAY ? console.log : undefined;
    const { done, before, after } = await soak(browser, server.url, { seed, count, say });
    const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    console.log(`  ${count} actions of seed ${seed}: no error, no lost result`);
    console.log(`  ${Object.entries(done).map(([name, n]) => `${name} ${n}`).join(", ")}`);
    console.log(`  the page's scripts held ${mib(before)} before and ${mib(after)} after`);
  } finally {
    await browser.close();
    await server.close();
  }
}

if (process.argv[1]?.endsWith("soak.mjs")) await main();
