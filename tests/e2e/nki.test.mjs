// NKI kernels in the browser: Python runs the file, errors stand at their lines, settings are compared.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { appFixture, eventually, openApp, waitForState } from "./support/app.mjs";

const app = appFixture();
const alone = { open: false };
const kernel = (name) => readFileSync(new URL(`../../src/forms/studies/nki/kernels/${name}`, import.meta.url), "utf8");
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

test("values are compared with an expression, which a link carries", app.page(async (page, url) => {
  const checked = (expression) => `${url}#/nki?v=1&kernel=matmul&check=${encodeURIComponent(expression)}`;
  await openApp(page, checked("lhs_t.T @ rhs"));
  await waitForState(page, "done");
  await page.getByText(/Values beside lhs_t.T @ rhs: the largest error is [1-9].*e-3 of the largest value/).first().waitFor();
  await page.getByText(/At \[\d+,\d+\] the kernel has/).first().waitFor();
  assert.match(await page.evaluate(() => location.hash), /check=lhs_t.T/);
  assert.match(await page.locator("pre", { hasText: "neuronscope nki matmul" }).first().innerText(), /--check 'lhs_t.T @ rhs'/);
  await openApp(page, checked("np.fft.fft(rhs)"));
  await waitForState(page, "done");
  await page.getByText(/the page has no np.fft/).first().waitFor();
}, alone));

test("a recorded list and a notebook open as kernels", app.page(async (page, url) => {
  await openApp(page, `${url}#/`);
  const list = readFileSync(new URL("../nki/lists/own_call-main.json", import.meta.url));
  await page.locator("#open-file").setInputFiles({ name: "main.json", mimeType: "application/json", buffer: list });
  await waitForState(page, "done");
  assert.match(await page.evaluate(() => location.hash), /^#\/nki.*kernel=main.json/);
  assert.match(await tile(page, "Time"), /\u00b5s/);
  const code = kernel("silu.py") + '\nif __name__ == "__main__":\n    import numpy as np\n    silu(np.zeros((256, 1024), np.float32))\n';
  const cells = [{ cell_type: "markdown", source: ["# Words"] }, { cell_type: "code", source: "%pip install nki\n" + code }];
  await page.locator("#open-file").setInputFiles({ name: "mine.ipynb", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ cells, nbformat: 4 })) });
  await page.waitForFunction(() => location.hash.includes("kernel=mine.py"));
  await waitForState(page, "done");
  await page.getByText("Instructions: ").first().waitFor();
}, alone));

const source = "#nki-source";
const run = async (page) => page.getByRole("button", { name: "Run", exact: true }).click();

test("kernels are one page with a tab for each language; a source goes to the tab of its language", app.page(async (page, url) => {
  await openApp(page, `${url}#/customop?v=1&kernel=relu-tcm&layers=16,64,10&batch=4`);
  await waitForState(page, "done");
  const tabs = page.getByRole("navigation", { name: "Language of the kernel" });
  const current = async () => [await tabs.locator("[aria-current]").innerText(), await page.locator("header.site nav [aria-current]").innerText()];
  assert.deepEqual(await current(), ["C++ for GpSimd", "Kernels"]);
  // Each line has its bytes, and each processor its lane.
  await page.getByRole("columnheader", { name: "Bytes" }).first().waitFor();
  await page.getByText("Processors over time").waitFor();
  await tabs.getByRole("link", { name: "NKI" }).click();
  await waitForState(page, "done");
  assert.match(await page.evaluate(() => location.hash), /^#\/nki/);
  assert.deepEqual(await current(), ["NKI", "Kernels"]);
  await page.getByText("Engines over time").waitFor();
  const cpp = readFileSync(new URL("../../src/kernel/operator/kernels/relu_tcm.cpp", import.meta.url), "utf8");
  await page.locator(source).fill(cpp);
  await page.waitForFunction(() => location.hash.startsWith("#/customop"));
  await eventually(async () => assert.equal(await page.locator("#customop-source").inputValue(), cpp));
  await page.locator("#customop-source").fill(kernel("silu.py"));
  await page.waitForFunction(() => location.hash.startsWith("#/nki"));
  await eventually(async () => assert.match(await page.locator(source).inputValue(), /WIDTH/));
}, alone));

test("settings run beside each other; Cancel keeps those that are done, and Run does the others", app.page(async (page, url) => {
  await openApp(page, `${url}#/nki?v=1&kernel=silu&set=${encodeURIComponent("WIDTH=128,256,512,1024,2048,4096; A=1,2,3,4,5,6,7,8")}`);
  const so_far = page.getByText(/^(\d\d|[2-9]) of 48 settings so far/);
  // Two Pythons start beside each other, on a busy machine for long.
  await so_far.waitFor({ timeout: 120_000 });
  // What runs is readable beside the results and on a telephone.
  for (const width of [1280, 1120, 390, 360]) {
    await page.setViewportSize({ width, height: 800 });
    const cut = await page.locator(".run-slot .progress p").evaluate((text) => text.scrollWidth - text.clientWidth);
    assert.equal(cut, 0, `${width}: ${cut} pixels of the progress are cut`);
  }
  await page.getByRole("button", { name: "Cancel" }).click();
  await waitForState(page, "idle");
  const done = Number.parseInt(await so_far.innerText(), 10);
  assert.ok(done > 0 && done < 48, `${done} of 48`);
  assert.equal(await page.getByText(`${done} settings of the kernel`).count(), 1);
  await run(page);
  await waitForState(page, "done", { timeout: 180_000 });
  await page.getByText("48 settings of the kernel").waitFor();
  assert.equal(await so_far.count(), 0);
}, alone));

test("settings that have run before a reload do not run again", app.page(async (page, url) => {
  await openApp(page, `${url}#/nki?v=1&kernel=silu&set=${encodeURIComponent("WIDTH=128,256,512,1024,2048,4096; A=1,2,3,4,5,6,7,8")}`);
  const so_far = page.getByText(/^\d+ of 48 settings so far/);
  await page.getByText(/^(\d\d) of 48 settings so far/).waitFor({ timeout: 120_000 });
  const done = Number.parseInt(await so_far.innerText(), 10);
  await page.reload();
  await so_far.waitFor({ timeout: 120_000 });
  const first = Number.parseInt(await so_far.innerText(), 10);
  assert.ok(first >= done, `${first} after the reload, ${done} before`);
  await waitForState(page, "done", { timeout: 180_000 });
  await page.getByText("48 settings of the kernel").waitFor();
}, alone));

test("a kernel that does not end is cancelled, and the next one runs", app.page(async (page, url) => {
  await openApp(page, `${url}#/nki`);
  await waitForState(page, "done");
  await page.locator(source).fill("import nki\n\n\n@nki.jit\ndef endless(lhs_t, rhs):\n    while True:\n        pass\n");
  await waitForState(page, "running");
  await page.getByRole("button", { name: "Cancel" }).click();
  await waitForState(page, "idle");
  await page.getByRole("button", { name: "A product in tiles" }).click();
  await waitForState(page, "done");
  assert.match(await tile(page, "Time"), /^\d+ \u00b5s/);
}, alone));
