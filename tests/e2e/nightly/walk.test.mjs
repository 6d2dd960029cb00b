// Two thousand random actions: address, heading, bar and figures are of one subject after each.
import { test } from "node:test";
import { appFixture } from "../support/app.mjs";
import { walk } from "../support/walk.mjs";

const app = appFixture();

for (const [viewport, actions] of [[{ width: 1440, height: 900 }, 1400], [{ width: 390, height: 844 }, 600]]) {
  test(`a walk of ${actions} random actions never shows figures of something else, ${viewport.width} px`, app.page(async (page, url) => {
    await walk(page, url, { seed: 7 * viewport.width, actions });
  }, { open: false, context: { viewport } }));
}
