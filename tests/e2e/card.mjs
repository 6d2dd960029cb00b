// Makes the picture that links to the page show (www/card.png): the start page, without its menus. Run it after ./x build.
import { fileURLToPath } from "node:url";
import { serve } from "../../tools/serve.mjs";
import { DIST, launch, openApp } from "./support/app.mjs";

const SIZE = { width: 1200, height: 630 };
const CARD = fileURLToPath(new URL("../../www/card.png", import.meta.url));
const LOOK = "header.site nav, .site-tools, #pages-toggle { display: none !important } .brand span { all: unset !important; font-weight: 650; font-size: 18px }";

const server = await serve({ dir: DIST, base: "/" });
const browser = await launch();
const page = await browser.newPage({ viewport: SIZE, colorScheme: "light", serviceWorkers: "block" });
await openApp(page, server.url);
await page.addStyleTag({ content: LOOK });
await page.screenshot({ path: CARD });
await browser.close();
await server.close();
