// Takes the pictures of docs/images from the built page: `node pictures.mjs` after `./x build`.
import { mkdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serve } from "../../tools/serve.mjs";
import { BASE, DIST, launch, openApp, waitForState } from "./support.mjs";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));

const server = await serve({ dir: DIST, base: BASE });
const browser = await launch();
try {
  mkdirSync(IMAGES, { recursive: true });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
  const page = await context.newPage();
  const keep = async (name) => {
    await page.mouse.move(0, 0);
    await page.waitForTimeout(500);
    const path = `${IMAGES}${name}.png`;
    await page.screenshot({ path });
    console.log(path, statSync(path).size, "bytes");
  };

  // Below the bar that stays at the top.
  const scrollTo = (what) => page.locator(what).evaluate((e) => window.scrollTo(0, e.getBoundingClientRect().top + scrollY - 60));

  await openApp(page, `${server.url}#/profile?v=1&model=nn&tool=operator-timeline&from=7900&to=15100&hide=4`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
  await page.getByRole("application", { name: "Timeline" }).focus();
  await page.keyboard.press("/");
  await page.keyboard.type("fused_");
  await page.getByText(/\d+ found/).waitFor();
  for (let i = 0; i < 4; i++) await page.keyboard.press("Enter");
  await page.getByText(/^4 of \d+$/).waitFor();
  await page.getByText(/Fused members/).waitFor();
  // Without the search everything has its colour again; the selection stays.
  await page.locator("#timeline-search").fill("");
  await page.locator("#timeline-search").blur();
  await scrollTo(".run-title");
  await keep("timeline");

  await openApp(page, `${server.url}#/benchmark`);
  await page.evaluate(() => location.reload());
  await openApp(page, `${server.url}#/benchmark`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForState(page, "done");
  await page.locator(".results").waitFor();
  await scrollTo("#results-title");
  await keep("benchmark");
} finally {
  await browser.close();
  await server.close();
}
