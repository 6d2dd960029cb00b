// A short soak: 60 random actions, among them bad files, bad links, reloads, killed workers and a full store. `./x bench` has the long one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve } from "../../../tools/serve.mjs";
import { soak } from "../bench/soak.mjs";
import { BASE, DIST, launch } from "../support/app.mjs";

let server;
let browser;
before(async () => {
  server = await serve({ dir: DIST, base: BASE });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Sixty actions from this seed include every kind of action at least three times. */
const SEED = Number(process.env.NEURONSCOPE_SOAK_SEED ?? 5);

test("sixty random actions leave no error, lose no result and hold no memory", async () => {
  const { done, before: held, after: then } = await soak(browser, server.url, { seed: SEED, count: 60 });
  assert.equal(Object.keys(done).length, 13, "every kind of action was among them");
  // Profiles live in their workers; the memory of the page's own scripts stays within that of a few of them.
  assert.ok(then < held + 48 * 2 ** 20, `${held} bytes became ${then}`);
});
