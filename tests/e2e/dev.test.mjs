// `./x dev`: what the server adds to a page, which messages it sends to it, and when a build begins.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { buildQueue } from "../../tools/dev.mjs";
import { liveReload } from "../../tools/live.mjs";
import { serve } from "../../tools/serve.mjs";
import { launch } from "./support/app.mjs";

let dir;
let live;
let server;

const writePage = (title) => writeFileSync(join(dir, "index.html"), `<html><head><title>${title}</title></head><body></body></html>`);

before(async () => {
  dir = mkdtempSync(join(tmpdir(), "neuronscope-dev-"));
  writePage("first");
  writeFileSync(join(dir, "sw.js"), "// the page's own");
  live = liveReload();
  server = await serve({ dir, live });
});

after(async () => {
  await server?.close();
  rmSync(dir, { recursive: true });
});

test("a page that is shown loads again after a build, and shows what was wrong with a failed one", async () => {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    assert.equal(await page.title(), "first");
    // When a failure reaches the page, the stream is open.
    const shown = page.locator("#build-failure");
    while ((await shown.count()) === 0) live.failed("error: one\nerror: two");
    assert.equal(await shown.textContent(), "error: one\nerror: two");
    writePage("second");
    live.built();
    await page.waitForFunction(() => document.title === "second");
    await shown.waitFor({ state: "detached" });
  } finally {
    await browser.close();
  }
});

test("the service worker that keeps files is replaced by one that goes away", async () => {
  const text = await (await fetch(`${server.url}sw.js`)).text();
  assert.match(text, /registration\.unregister/);
  assert.doesNotMatch(text, /addEventListener\("fetch"/);
});

test("without the option a page is served as it is", async () => {
  const plain = await serve({ dir });
  try {
    assert.doesNotMatch(await (await fetch(plain.url)).text(), /__live/);
    assert.equal((await fetch(`${plain.url}__live`)).status, 404);
  } finally {
    await plain.close();
  }
});

test("changes that come together are one build, those during a build are one more", async () => {
  const ends = [];
  const outcomes = [];
  let started;
  let begun = new Promise((resolve) => (started = resolve));
  const build = () => new Promise((resolve) => {
    ends.push(resolve);
    started();
  });
  let told;
  const isTold = () => new Promise((resolve) => (told = resolve));
  const changed = buildQueue(build, (failure) => {
    outcomes.push(failure);
    told?.();
  }, 1);
  changed();
  changed();
  await begun;
  assert.equal(ends.length, 1);

  changed();
  await new Promise((resolve) => setTimeout(resolve, 20));
  changed();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(ends.length, 1, "one at a time");
  begun = new Promise((resolve) => (started = resolve));
  let end = isTold();
  ends[0]("broken");
  await end;
  await begun;
  assert.equal(ends.length, 2);
  end = isTold();
  ends[1](undefined);
  await end;
  assert.deepEqual(outcomes, ["broken", undefined]);
});
