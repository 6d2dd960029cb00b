// No task of the page's main thread takes more than 50 ms of the processor, in any view. Views that run on the page's own workers are included; the workers' tasks are not counted.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve } from "../../../tools/serve.mjs";
import { BASE, DIST, launch } from "../support/app.mjs";
import { LIMIT_MS, measureView } from "../bench/tasks.mjs";
import { VIEWS } from "../support/views.mjs";

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

/** The views with the most on the screen. */
const HEAVY = ["profile-timeline-area", "profile-finder", "profile-framework", "trace-timeline", "trace-steps", "benchmark-results"];

/** The longest task of a view: the least of three visits, because other load of the machine can only lengthen a task. */
async function leastLongest(name) {
  let least = Infinity;
  for (let visit = 0; visit < 3 && least > LIMIT_MS; visit++) {
    const { opening, using } = await measureView(browser, server.url, VIEWS[name]);
    assert.ok(opening.length > 0 && using.length > 0, `${name}: tasks were seen`);
    least = Math.min(least, Math.max(opening[0], using[0]));
  }
  return least;
}

test("no view has a task above the limit", async () => {
  for (const name of HEAVY) {
    const longest = await leastLongest(name);
    assert.ok(longest <= LIMIT_MS, `${name}: a task of ${longest.toFixed(1)} ms of processor time`);
  }
});
