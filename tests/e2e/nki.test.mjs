// NKI kernels in the browser: Python runs the file, errors stand at their lines, settings are compared.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { appFixture, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const alone = { open: false };
const kernel = (name) => readFileSync(new URL(`../../src/session/studies/nki/kernels/${name}`, import.meta.url), "utf8");
const tile = (page, name) => page.locator("dl.tiles div", { has: page.getByText(name, { exact: true }) }).locator("dd").first().innerText();

test("the page opens on a kernel's time, what bounds it, and each line's", app.page(async (page, url) => {
  await openApp(page, `${url}#/nki`);
  await waitForState(page, "done");
  assert.match(await tile(page, "Time"), /^\d+ \u00b5s/);
  assert.match(await tile(page, "Bound by"), /DMA issue/);
  await page.getByText("What each limit costs").waitFor();
  // Edited, it runs again by itself: the same kernel with fewer loads is faster.
  const before = Number.parseFloat(await tile(page, "Time"));
  await page.getByRole("button", { name: "The same with fewer loads" }).click();
  await page.waitForFunction((before) => {
    const text = [...document.querySelectorAll("dl.tiles dd")][0]?.textContent ?? "";
    return Number.parseFloat(text) < before;
  }, before);
}, alone));

test("a kernel that is dropped runs; its error stands at its line", app.page(async (page, url) => {
  await openApp(page, `${url}#/`);
  const wrong = kernel("matmul.py").replace("nl.ndarray((128, 512), dtype=nl.float32", "nl.ndarray((256, 512), dtype=nl.float32");
  const call = '\n\nif __name__ == "__main__":\n    import numpy as np\n\n    a = np.zeros((256, 256), dtype=np.float32)\n    matmul(a, np.zeros((256, 512), dtype=np.float32))\n';
  await page.locator("#open-file").setInputFiles({ name: "mine.py", mimeType: "text/x-python", buffer: Buffer.from(wrong + call) });
  await waitForState(page, "done");
  assert.match(await page.evaluate(() => location.hash), /^#\/nki/);
  assert.match(await tile(page, "Builds"), /^no/);
  await page.getByText(/line 15: .*256.*128/).first().waitFor();
}, alone));

test("settings are ranked, and what a link brings waits for Run", app.page(async (page, url) => {
  await openApp(page, `${url}#/nki?v=1&kernel=silu&set=WIDTH%3D512,2048`);
  await waitForState(page, "done");
  const rows = page.getByRole("row").filter({ hasText: "WIDTH=" });
  assert.equal(await rows.count(), 2);
  await openApp(page, `${url}#/nki?v=1&kernel=own&source=${encodeURIComponent("print('hello')")}`);
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.state), "idle");
}, alone));
