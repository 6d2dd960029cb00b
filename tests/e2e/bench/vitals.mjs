// The cost of a first visit: the metrics of Lighthouse's performance score, measured by the browser itself. Lighthouse is not
// used because it brings about a hundred packages. It prints numbers and asserts nothing.
import { serve } from "../../../tools/serve.mjs";
import { BASE, DIST, launch } from "../support/app.mjs";

/** The settings of Lighthouse: a desktop without limits, and a mid-range phone on a slow mobile network. */
const DEVICES = [
  { name: "desk", viewport: { width: 1350, height: 940 }, slower: 1 },
  { name: "phone", viewport: { width: 412, height: 823 }, slower: 4, latency: 150, bytesPerSecond: (1638.4 * 1024) / 8 },
];
const PAGES = ["", "#/benchmark", "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=overview"];
/** The page is at rest when nothing new was painted for this time. */
const REST_MS = 1500;
const LIMIT_MS = 60_000;

// In the page, before its own scripts.
function observe() {
  const seen = { lcp: 0, cls: 0, tbt: 0, interactive: undefined };
  window.vitals = seen;
  const on = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  on("largest-contentful-paint", (e) => { seen.lcp = e.startTime; });
  on("layout-shift", (e) => { if (!e.hadRecentInput) seen.cls += e.value; });
  on("longtask", (e) => { seen.tbt += Math.max(0, e.duration - 50); });
  const timer = setInterval(() => {
    if ((document.documentElement?.dataset.state ?? "loading") === "loading") return;
    seen.interactive = performance.now();
    clearInterval(timer);
  }, 16);
}

async function visit(browser, url, device) {
  const context = await browser.newContext({ viewport: device.viewport, serviceWorkers: "block" });
  try {
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    await client.send("Network.enable");
    if (device.latency) {
      await client.send("Network.emulateNetworkConditions", {
        offline: false, latency: device.latency, downloadThroughput: device.bytesPerSecond, uploadThroughput: device.bytesPerSecond,
      });
    }
    await client.send("Emulation.setCPUThrottlingRate", { rate: device.slower });
    await page.addInitScript(observe);
    await page.goto(url, { timeout: 120_000 });
    // On a slow network the worker arrives long after the first content.
    const settled = () => ["idle", "done"].includes(document.documentElement.dataset.state);
    await page.waitForFunction(settled, undefined, { timeout: LIMIT_MS }).catch(() => {});
    await page.waitForTimeout(REST_MS);
    return await page.evaluate(() => {
      const paint = performance.getEntriesByName("first-contentful-paint")[0];
      const resources = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
      const bytes = resources.reduce((sum, r) => sum + r.transferSize, 0);
      return { ...window.vitals, fcp: paint?.startTime ?? NaN, bytes, requests: resources.length };
    });
  } finally {
    await context.close();
  }
}

const server = await serve({ dir: process.env.NEURONSCOPE_DIST ?? DIST, base: BASE });
const browser = await launch();
try {
  for (const device of DEVICES) {
    for (const hash of PAGES) {
      const v = await visit(browser, server.url + hash, device);
      const ms = (n) => `${n.toFixed(0)} ms`;
      const page = hash.slice(2).split("?")[0] || "start page";
      console.log(
        `  ${device.name}, ${page}: first paint ${ms(v.fcp)}, largest ${ms(v.lcp)}, interactive ${v.interactive === undefined ? `not within ${LIMIT_MS / 1000} s` : ms(v.interactive)}, ` +
          `blocked ${ms(v.tbt)}, shifts ${v.cls.toFixed(3)}, ${(v.bytes / 1024).toFixed(0)} KiB in ${v.requests} requests`,
      );
    }
  }
} finally {
  await browser.close();
  await server.close();
}
