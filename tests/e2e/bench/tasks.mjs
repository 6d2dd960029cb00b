// The longest task of the page's main thread in every view: opening it, and the actions of `views.mjs`. It measures processor time
// rather than wall time, which other processes of the machine would affect. It prints numbers; the limit of the page is 50 ms.
import { serve } from "../../../tools/serve.mjs";
import { BASE, DIST, launch, openApp } from "../support/app.mjs";
import { VIEWS } from "../support/views.mjs";

/** Tasks longer than this are listed. */
export const LIMIT_MS = 50;

/** Processor time of the tasks of the page's main threads in a trace, in ms, the longest first. */
export function mainTasks(events) {
  const main = new Set(
    events.filter((e) => e.name === "thread_name" && e.args?.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`),
  );
  const tasks = events.filter((e) => e.name.endsWith("RunTask") && main.has(`${e.pid} ${e.tid}`));
  return tasks.map((e) => (e.tdur ?? e.dur ?? 0) / 1000).sort((a, b) => b - a);
}

/** Tasks of a view while the page opens, and while it is used. */
export async function measureView(browser, url, view) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(60_000);
  try {
    const page = await context.newPage();
    await page.goto("about:blank");
    const traced = async (act) => {
      await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
      let failure;
      await act().catch((error) => { failure = error; });
      // A trace that is still running would keep the next one from starting.
      const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
      if (failure) throw failure;
      return mainTasks(traceEvents);
    };
    const opening = await traced(() => openApp(page, url + view.hash));
    const using = await traced(async () => { await view.act?.(page); });
    return { opening, using };
  } finally {
    await context.close();
  }
}

/** Every view, with its longest task. */
export async function measureAll(part = "") {
  const server = await serve({ dir: process.env.NEURONSCOPE_DIST ?? DIST, base: BASE });
  const browser = await launch();
  let long = 0;
  try {
    for (const [name, view] of Object.entries(VIEWS).filter(([name]) => name.includes(part))) {
      try {
        const { opening, using } = await measureView(browser, server.url, view);
        const over = [...opening, ...using].filter((ms) => ms > LIMIT_MS).length;
        long += over;
        const longest = (tasks) => (tasks[0] ?? 0).toFixed(1).padStart(6);
        console.log(`  ${name.padEnd(28)} opening ${longest(opening)} ms, using ${longest(using)} ms${over ? `, ${over} above ${LIMIT_MS} ms` : ""}`);
      } catch (error) {
        console.log(`  ${name.padEnd(28)} could not be measured (${error.message.split("\n")[0]})`);
      }
    }
  } finally {
    await browser.close();
    await server.close();
  }
  console.log(`  ${long} tasks above ${LIMIT_MS} ms of processor time`);
}

if (process.argv[1]?.endsWith("tasks.mjs")) await measureAll(process.argv[2]);
