// What speedscope holds of a file: it is opened in a headless Chromium and saved again, and the saved file is counted.
//
// usage: node speedscope.mjs FILE   prints {"name": [count, total_ns], ...} as JSON
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch } from "../e2e/support/app.mjs";
import { serve } from "../../tools/serve.mjs";

const [file] = process.argv.slice(2);
const TIMEOUT_MS = 120_000;
const NS = { nanoseconds: 1, microseconds: 1e3, milliseconds: 1e6, seconds: 1e9 };
const dir = fileURLToPath(new URL("../e2e/node_modules/speedscope/dist/release", import.meta.url));
const server = await serve({ dir, base: "/speedscope/" });
const browser = await launch(["--enable-unsafe-swiftshader"]);
try {
  const page = await browser.newPage({ acceptDownloads: true });
  await page.goto(server.url);
  await page.locator("input[type=file]").setInputFiles(file, { timeout: TIMEOUT_MS });
  await page.waitForFunction(() => document.body.textContent.includes("Left Heavy"), undefined, { timeout: TIMEOUT_MS });
  const saved = page.waitForEvent("download", { timeout: TIMEOUT_MS });
  await page.keyboard.press("Control+s");
  const profiles = JSON.parse(readFileSync(await (await saved).path(), "utf8"));
  const totals = Object.create(null);
  for (const profile of profiles.profiles) {
    const open = [];
    for (const event of profile.events) {
      if (event.type === "O") open.push(event);
      else {
        const begun = open.pop();
        const row = (totals[profiles.shared.frames[event.frame].name] ??= [0, 0]);
        row[0] += 1;
        row[1] += Math.round((event.at - begun.at) * NS[profile.unit]);
      }
    }
  }
  console.log(JSON.stringify(totals));
} finally {
  await browser.close();
  await server.close();
}
