// Lighthouse's scores of the built page: `node tools/lighthouse.mjs NODE_MODULES DIST OUT`, which `./x bench --lighthouse` runs. Lighthouse is
// not a package of the repository: ./x downloads it on request. The whole reports go to OUT as JSON.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { serve } from "./serve.mjs";

const [modules, dist, out] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, path)));
const { default: lighthouse, desktopConfig } = await load("lighthouse/core/index.js");
const { launch } = await load("chrome-launcher/dist/index.js");

const CATEGORIES = ["performance", "accessibility", "best-practices"];
const PAGES = {
  start: "#/",
  benchmark: "#/benchmark",
  profile: "#/profile",
  inspect: "#/inspect",
  LLMs: "#/llm",
  numerics: "#/numerics",
  fidelity: "#/fidelity",
  microbenchmark: "#/matmult",
  "custom operators": "#/customop",
  experiments: "#/experiments",
  guide: "#/guide",
};
const DEVICES = { desk: desktopConfig, phone: undefined };
// The sandbox needs privileges that containers lack; the rest keeps the browser from calling home.
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--disable-background-networking"];

// A first visit: what Lighthouse leaves otherwise would hold results of the page before.
const STORAGE = ["all"];

// Now and then the browser begins its recording after the page does, and Lighthouse asks to be run again.
const RECORDINGS = 3;
async function recorded(...page) {
  for (let left = RECORDINGS; ; left -= 1) {
    const result = await lighthouse(...page);
    if (result.lhr.runtimeError?.code !== "NO_NAVSTART" || left === 1) return result;
  }
}

// Lighthouse divides this computer's speed by four to get that of its phone. That is meant for a fast computer, whose benchmark index is
// 1500 to 2000, and would make a slow computer's phone slower still (its docs/throttling.md: "Calibrating the CPU slowdown").
const SLOWDOWN = 4;
const INDEX_OF_SLOWDOWN = 1750;
const slowdownAt = (index) => Math.max(1, Math.round((SLOWDOWN * 10 * index) / INDEX_OF_SLOWDOWN) / 10);

mkdirSync(out, { recursive: true });
// Real hosts compress files, so this server does too.
const server = await serve({ dir: dist, base: "/neuronscope/", compresses: true });
const chrome = await launch({ chromePath: process.env.CHROMIUM, chromeFlags: FLAGS });
try {
  const indices = [];
  for (const [device, config] of Object.entries(DEVICES)) {
    // The median of what the desk's pages measured: other work disturbs some. None is there before the phone.
    const index = indices.sort((a, b) => a - b)[Math.floor(indices.length / 2)];
    const throttling = index && { cpuSlowdownMultiplier: slowdownAt(index) };
    if (throttling) console.log(`the phone's processor is ${throttling.cpuSlowdownMultiplier} times slower than this one, of index ${index}`);
    for (const [name, hash] of Object.entries(PAGES)) {
      const flags = { port: chrome.port, output: "json", logLevel: "error", onlyCategories: CATEGORIES, clearStorageTypes: STORAGE, throttling };
      const result = await recorded(server.url + hash, flags, config);
      writeFileSync(join(out, `${device}-${name.replaceAll(" ", "-")}.json`), result.report);
      const { audits, categories, environment } = result.lhr;
      if (!throttling) indices.push(environment.benchmarkIndex);
      const scores = CATEGORIES.map((id) => `${id} ${Math.round(categories[id].score * 100)}`).join(", ");
      const times = ["first-contentful-paint", "largest-contentful-paint", "interactive"].map((id) => audits[id]?.displayValue ?? "none").join(", ");
      console.log(`${device} ${name}: ${scores} (first paint, largest paint, interactive: ${times})`);
      const failed = Object.values(audits).filter((audit) => audit.score !== null && audit.score < 0.9 && audit.scoreDisplayMode === "binary");
      for (const audit of failed) console.log(`  not passed: ${audit.id}: ${audit.title}`);
    }
  }
} finally {
  chrome.kill();
  await server.close();
}
