// Runs the end-to-end tests, two files at a time: a page waits for its workers about as long as it works.
// Run: node tools/e2e.mjs [--changed]
//
// With --changed a file of tests is left out when it has passed with these inputs: the built page, the test itself, what tests share, and the
// command line for those that run it. The stamps of what has passed are in target/.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const E2E = join(ROOT, "tests/e2e");
const STAMPS = join(ROOT, "target/e2e-passed.json");
const CLI = process.env.NEURONSCOPE_CLI;
// Folders that tests read, and what in them no test reads.
const SHARED = ["dist", "tests/e2e", "tests/it/fixtures", "tests/support", "tools", "www"];
const UNREAD = /\/node_modules\/|\/artifacts\/|\/nightly\/|\/bench\/|\.test\.mjs$|\.sh$/;

const digest = (parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

function filesOf(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !UNREAD.test(path))
    .sort();
}

const digestOf = (folders) => digest(folders.flatMap(filesOf).flatMap((path) => [relative(ROOT, path), readFileSync(path)]));

// What each file of tests depends on, as one digest.
function inputs(names) {
  const shared = digest([process.version, process.env.CHROMIUM ?? "", digestOf(SHARED)]);
  const docs = digestOf(["docs"]);
  const cli = CLI && existsSync(CLI) ? digest([readFileSync(CLI)]) : "";
  const one = (name) => {
    const text = readFileSync(join(E2E, name), "utf8");
    return digest([shared, text, text.includes("/docs/") ? docs : "", text.includes("NEURONSCOPE_CLI") ? cli : ""]);
  };
  return Object.fromEntries(names.map((name) => [name, one(name)]));
}

const all = readdirSync(E2E).filter((name) => name.endsWith(".test.mjs")).sort();
const keys = inputs(all);
const stamps = existsSync(STAMPS) ? JSON.parse(readFileSync(STAMPS, "utf8")) : {};
const isDone = (name) => process.argv.includes("--changed") && stamps[name] === keys[name];
const [done, left] = [all.filter(isDone), all.filter((name) => !isDone(name))];
if (done.length > 0) console.log(`${done.length} of ${all.length} files of tests passed with the same page and tests, and do not run again`);

if (left.length === 0) process.exit();
const failed = new Set();
process.chdir(E2E);
const events = run({ files: left.map((name) => join(E2E, name)), concurrency: 2 });
events.on("test:fail", ({ file }) => failed.add(file));
events.once("end", () => {
  // A failure without a file could be of any.
  const isPassed = (name) => !failed.has(undefined) && !failed.has(join(E2E, name));
  for (const name of left) stamps[name] = isPassed(name) ? keys[name] : undefined;
  mkdirSync(dirname(STAMPS), { recursive: true });
  writeFileSync(STAMPS, JSON.stringify(stamps));
  if (failed.size > 0) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
