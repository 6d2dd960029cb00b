// Every view and state of the page passes axe, on a phone and on a desk, in light and in dark.
import { test } from "node:test";
import { appFixture, assertAccessible } from "../support/app.mjs";
import { VIEWS } from "../support/views.mjs";

const app = appFixture();
const SIZES = [{ width: 390, height: 844 }, { width: 1440, height: 900 }];

for (const [name, { hash, act }] of Object.entries(VIEWS)) {
  for (const viewport of SIZES) {
    for (const colorScheme of ["light", "dark"]) {
      test(`axe: ${name}, ${viewport.width} px, ${colorScheme}`, app.page(async (page) => {
        await act?.(page);
        await assertAccessible(page);
      }, { hash, context: { viewport, colorScheme, reducedMotion: "reduce" } }));
    }
  }
}
