// Stores what each page shows for its own example (www/examples/), which stands there while the page's programs are on their way.
// Run it after ./x build when such a result changes; tests/e2e/examples.test.mjs compares them with the pages.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serve } from "../../tools/serve.mjs";
import { DIST, launch } from "./support/app.mjs";
import { EXAMPLES, WIDTHS, storedExample } from "./support/examples.mjs";

const FOLDER = fileURLToPath(new URL("../../www/examples/", import.meta.url));

mkdirSync(FOLDER, { recursive: true });
const server = await serve({ dir: DIST, base: "/" });
const browser = await launch();
for (const path of EXAMPLES) {
  for (const width of Object.keys(WIDTHS)) {
    const html = await storedExample(browser, server.url, path, width);
    writeFileSync(`${FOLDER}${path}-${width}.html`, html);
    console.log(`${path}, ${width}: ${html.length} bytes`);
  }
}
await browser.close();
await server.close();
