// Prints the size of each file of a built page: as it is, with gzip -9 and with brotli, and what a first visit downloads against its
// budgets. Run: node tools/sizes.mjs [DIR]
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

// Programs that a first visit needs for something, and their budget with gzip, bytes. The page of a benchmark is drawn by the lab, which is
// fetched at the same time and does not delay the worker.
const FIRST_VISITS = [
  { for: "a trace is on screen", programs: ["app", "viewer"], budget: 1.3e6 },
  { for: "a benchmark runs", programs: ["app", "worker"], budget: 2.4e6 },
];
// Fetched beside the page, or only on demand; everything else is the first load.
const LATER = /^(viewer|worker|studies|reader|recorder|python\/|lab|sw\.js|samples\/|examples\/)/;

const dir = process.argv[2] ?? "dist";
const files = readdirSync(dir, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => measure(relative(dir, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/")))
  .sort((a, b) => b.gzip - a.gzip);

function measure(name) {
  const bytes = readFileSync(join(dir, name));
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  // Not Node's own zlib, which packs the programs worse by up to a hundredth than gzip does.
  const gzip = execFileSync("gzip", ["-9c"], { input: bytes, maxBuffer: 2 * bytes.length + 1024 }).length;
  return { name, raw: bytes.length, gzip, brotli: brotliCompressSync(bytes, { params }).length };
}

function sum(name, some) {
  const total = { name, raw: 0, gzip: 0, brotli: 0 };
  for (const file of some) for (const key of ["raw", "gzip", "brotli"]) total[key] += file[key];
  return total;
}

const print = ({ name, raw, gzip, brotli }) =>
  console.log([raw, gzip, brotli].map((n) => String(n).padStart(10)).join("") + `  ${name}`);

function program(name) {
  const found = files.filter((file) => new RegExp(`^${name}(-[0-9a-f]+)?_bg\\.wasm$`).test(file.name));
  if (found.length === 1) return found[0];
  console.error(`sizes: ${dir} holds ${found.length} ${name} wasm files, not one: run ./x build`);
  process.exit(1);
}

console.log(["bytes", "gzip -9", "brotli"].map((head) => head.padStart(10)).join("") + "  file");
for (const file of files) print(file);
print(sum("= first load", files.filter(({ name }) => !LATER.test(name))));
print(sum("= all", files));
for (const visit of FIRST_VISITS) {
  const { gzip, brotli } = sum("", visit.programs.map(program));
  const percent = (n) => `${((100 * n) / visit.budget).toFixed(1)} %`;
  console.log(
    `${visit.programs.join(" and ")}, before ${visit.for}: ${percent(gzip)} of ${visit.budget / 1e6} MB with gzip, ${percent(brotli)} with brotli`,
  );
}
