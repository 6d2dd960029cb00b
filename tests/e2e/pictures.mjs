// Takes pictures of every view and state of the built page, at three widths and in both themes, for review by a person:
// `./x pictures [FOLDER] [PART OF A NAME]`. `--docs` takes the pictures of docs/images instead.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "../../tools/serve.mjs";
import { BASE, DIST, launch, openApp } from "./support/app.mjs";
import { VIEWS } from "./support/views.mjs";

const SIZES = [[390, 844], [1440, 900], [2560, 1440]];
const THEMES = ["light", "dark"];
const DOCS = fileURLToPath(new URL("../../docs/images/", import.meta.url));

/** Takes one picture of a view; returns what is wrong with it, or nothing. */
async function take(browser, url, view, { width, height, theme, path, fullPage }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
  const problems = [];
  context.on("weberror", (error) => problems.push(`uncaught: ${error.error()}`));
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await openApp(page, url + view.hash);
    await view.act?.(page);
    await page.mouse.move(0, 0);
    await page.evaluate(() => new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(ok))));
    // A canvas is painted a frame after its slices arrive.
    await page.waitForTimeout(300);
    await page.screenshot({ path, fullPage });
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wider > 0) problems.push(`${wider} px wider than the window`);
  } catch (error) {
    problems.push(error.message.split("\n")[0]);
  } finally {
    await context.close();
  }
  return problems;
}

async function takeAll(browser, url, folder, part) {
  mkdirSync(folder, { recursive: true });
  let [taken, failed] = [0, 0];
  for (const [name, view] of Object.entries(VIEWS).filter(([name]) => name.includes(part))) {
    for (const [width, height] of SIZES) {
      for (const theme of THEMES) {
        const path = join(folder, `${name}-${width}-${theme}.png`);
        const problems = await take(browser, url, view, { width, height, theme, path, fullPage: width < 1000 });
        taken += 1;
        if (problems.length > 0) failed += 1;
        console.log(`${path}${problems.length > 0 ? `: ${problems.join("; ")}` : ""}`);
      }
    }
  }
  console.log(`${taken} pictures, ${failed} with a problem`);
  return failed;
}

async function takeDocs(browser, url) {
  mkdirSync(DOCS, { recursive: true });
  const pictures = { timeline: "profile-timeline-selected", overview: "profile-overview", benchmark: "benchmark-results" };
  let failed = 0;
  for (const [name, view] of Object.entries(pictures)) {
    const path = `${DOCS}${name}.png`;
    const problems = await take(browser, url, VIEWS[view], { width: 1280, height: 800, theme: "light", path });
    failed += problems.length;
    console.log(path, statSync(path).size, "bytes", ...problems);
  }
  return failed;
}

const [first, part = ""] = process.argv.slice(2);
const server = await serve({ dir: process.env.NEURONSCOPE_DIST ?? DIST, base: BASE });
const browser = await launch();
try {
  const failed = first === "--docs" ? await takeDocs(browser, server.url) : await takeAll(browser, server.url, first ?? "../../pictures", part);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await browser.close();
  await server.close();
}
