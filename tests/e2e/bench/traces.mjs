// Measures the cost of opening and moving through large traces in a browser, side by side with speedscope if that is installed.
// It prints numbers and asserts nothing. NEURONSCOPE_BENCH_EVENTS sets the sizes; the default is 10000,100000,1000000.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "../../../tools/serve.mjs";
import { BASE, DIST, launch } from "../support/app.mjs";
import { writeSynthetic } from "../support/synthetic.mjs";

const SIZES = (process.env.NEURONSCOPE_BENCH_EVENTS ?? "10000,100000,1000000").split(",").map(Number);
const SPEEDSCOPE = fileURLToPath(new URL("../node_modules/speedscope/dist/release", import.meta.url));
const VIEWPORT = { width: 1600, height: 900 };
/** Interactive is when no task of more than TASK_MS begins for QUIET_MS. */
const TASK_MS = 50;
const QUIET_MS = 700;
const LIMIT_MS = 300_000;

const VIEWERS = [
  {
    name: "neuronscope",
    dir: DIST,
    base: `${BASE}`,
    hash: "#/profile?v=1",
    isLoaded: () => !["loading", undefined].includes(document.documentElement.dataset.state),
    isReady: () => document.documentElement.dataset.state === "done",
    moves: { "zoom frame": ["w", "s"], "pan frame": ["d", "a"] },
  },
  {
    name: "speedscope",
    dir: SPEEDSCOPE,
    base: "/speedscope/",
    hash: "",
    isLoaded: () => document.querySelector("input[type=file]") !== null,
    isReady: () => document.body.textContent.includes("Left Heavy"),
    moves: {},
  },
];

// Runs in the page: notes when the file was chosen, when the viewer says it is ready, and gaps of an 8 ms heartbeat.
function observe(isReadyText) {
  const isReady = new Function(`return (${isReadyText})()`);
  const seen = { start: undefined, ready: undefined, lastLate: 0 };
  window.bench = seen;
  let last = performance.now();
  const beat = () => {
    const now = performance.now();
    if (seen.start !== undefined) {
      if (now - last > 58) seen.lastLate = now;
      if (seen.ready === undefined && isReady()) seen.ready = now;
    }
    last = now;
    setTimeout(beat, 8);
  };
  beat();
  document.addEventListener("change", () => { seen.start ??= performance.now(); }, { capture: true });
}

// Runs in the page: presses two keys in turn, one at every frame, for a while, so that the view stays where there is most
// to draw; returns the times between frames.
function hold([keys, ms]) {
  return new Promise((resolve) => {
    const gaps = [];
    const begin = performance.now();
    let last;
    const frame = (now) => {
      if (last !== undefined) gaps.push(now - last);
      last = now;
      if (now - begin > ms) return resolve(gaps);
      const key = keys[Math.floor(gaps.length / 20) % keys.length];
      const target = document.querySelector("canvas") ?? document.body;
      // Shift makes the step small: movement as smooth as with a held key.
      target.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: true, bubbles: true, cancelable: true }));
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

// Longest task, in ms, of the page's main thread in a trace of the browser.
function longestTask(trace) {
  const main = new Set(
    trace.filter((e) => e.name === "thread_name" && e.args?.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`),
  );
  const tasks = trace.filter((e) => e.name.endsWith("RunTask") && e.dur && main.has(`${e.pid} ${e.tid}`));
  return Math.max(0, ...tasks.map((e) => e.dur / 1000));
}

// Largest memory in MiB that a process of the browser ever held; Linux only.
async function peakMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const peaks = processInfo.filter((p) => p.type === "renderer").map((p) => {
    const file = `/proc/${p.id}/status`;
    const kib = existsSync(file) ? readFileSync(file, "utf8").match(/VmHWM:\s+(\d+)/)?.[1] : undefined;
    return kib === undefined ? NaN : Number(kib) / 1024;
  });
  return Math.max(...peaks);
}

async function measure(viewer, url, path) {
  // speedscope draws with WebGL, which has no other device here.
  const browser = await launch(["--enable-unsafe-swiftshader"]);
  try {
    const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage();
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(url + viewer.hash);
    await page.waitForFunction(viewer.isLoaded);
    await page.waitForTimeout(1500);
    const before = await peakMemory(browser);
    await page.evaluate(observe, viewer.isReady.toString());
    await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
    await page.locator("#open-file").first().setInputFiles(path);
    const isQuiet = (quiet) => {
      const { ready, lastLate } = window.bench;
      return ready !== undefined && performance.now() - Math.max(ready, lastLate) > quiet;
    };
    await page.waitForFunction(isQuiet, QUIET_MS, { polling: 50 });
    const { start, ready, lastLate } = await page.evaluate(() => window.bench);
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const result = {
      "ready ms": ready - start,
      "interactive ms": Math.max(ready, lastLate) - start,
      "longest task ms": longestTask(traceEvents),
      "peak MiB": (await peakMemory(browser)),
      "MiB before": before,
    };
    for (const [move, keys] of Object.entries(viewer.moves)) {
      await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
      const gaps = await page.evaluate(hold, [keys, 2000]);
      const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
      result[`${move} p95 ms`] = percentile(gaps, 0.95);
      result[`${move} longest task ms`] = longestTask(traceEvents);
    }
    return result;
  } finally {
    await browser.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), "neuronscope-bench-"));
try {
  for (const events of SIZES) {
    const path = join(folder, `synthetic-${events}.json`);
    const bytes = writeSynthetic(path, events);
    console.log(`\n${events.toLocaleString("en")} events, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
    const found = {};
    for (const viewer of VIEWERS) {
      if (!existsSync(`${viewer.dir}/index.html`)) {
        console.log(`  ${viewer.name}: skipped, it is not installed`);
        continue;
      }
      const server = await serve({ dir: viewer.dir, base: viewer.base });
      try {
        found[viewer.name] = await measure(viewer, server.url, path);
        const numbers = Object.entries(found[viewer.name]).map(([what, n]) => `${what} ${n.toFixed(1)}`);
        console.log(`  ${viewer.name}: ${numbers.join(", ")}`);
      } catch (error) {
        console.log(`  ${viewer.name}: could not be measured (${error.message.split("\n")[0]})`);
      } finally {
        await server.close();
      }
    }
    const [ours, theirs] = VIEWERS.map((v) => found[v.name]?.["interactive ms"]);
    if (ours && theirs) console.log(`  interactive: ${(ours / theirs).toFixed(2)} of speedscope's time`);
    rmSync(path);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
