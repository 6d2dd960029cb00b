// Builds the page when a source changes, and loads it again in every browser that shows it. Run: ./x dev [--port N]
import { spawn } from "node:child_process";
import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { liveReload } from "./live.mjs";
import { portOf, serve } from "./serve.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["src", "www"];
const FILES = new Set(["index.html", "Cargo.toml", "Cargo.lock", "Trunk.toml"]);
// Wait a moment, because an editor saves several files one after the other.
const SETTLE_MS = 150;
// Lines of a failed build that the page shows; the terminal has all of them.
const SHOWN_LINES = 60;

/**
 * Returns a function that requests a build. Builds run one at a time: changes during a build lead to one more build after
 * it. `build` returns a promise of an error message, or of nothing; `done` receives it.
 */
export function buildQueue(build, done, settleMs = SETTLE_MS) {
  let running = false;
  let wanted = false;
  let timer;
  async function run() {
    if (running) {
      wanted = true;
      return;
    }
    running = true;
    done(await build());
    running = false;
    if (wanted) {
      wanted = false;
      run();
    }
  }
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, settleMs);
  };
}

// The fast build. Its output goes to the terminal; the last lines are kept for the page.
function build() {
  return new Promise((resolve) => {
    const started = performance.now();
    const said = [];
    const child = spawn(join(ROOT, "x"), ["build", "--fast"], { cwd: ROOT, stdio: ["ignore", "inherit", "pipe"] });
    child.stderr.on("data", (text) => {
      process.stderr.write(text);
      said.push(text);
    });
    child.on("error", (error) => resolve(String(error)));
    child.on("close", (code) => {
      console.error(`dev: build ${code === 0 ? "done" : "failed"} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      const text = Buffer.concat(said).toString().replaceAll(/\x1b\[[0-9;]*m/g, "");
      resolve(code === 0 ? undefined : text.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n"));
    });
  });
}

function watchSources(changed) {
  for (const folder of FOLDERS) watch(join(ROOT, folder), { recursive: true }, changed);
  watch(ROOT, (_, name) => FILES.has(name) && changed());
}

async function main() {
  const { values } = parseArgs({ options: { port: { type: "string", default: "8080" } } });
  const port = portOf(values.port);
  const problem = await build();
  const dist = join(ROOT, "dist");
  if (problem !== undefined && !existsSync(join(dist, "index.html"))) throw new Error("the first build failed (messages above)");
  const live = liveReload();
  const served = await serve({ dir: dist, port, live });
  watchSources(buildQueue(build, (failure) => (failure === undefined ? live.built() : live.failed(failure))));
  console.log(`neuronscope is at ${served.url}, and is built anew when src/ or www/ change  (Ctrl-C ends it)`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(`dev: ${error.message}`);
    process.exit(1);
  });
}
