// Prints the size of each file of a built page: as it is, with gzip -9 and with brotli, and the first load against its
// budget. Run: node tools/sizes.mjs [DIR]
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const APP_WASM_BUDGET = 600 * 1024;
const APP_WASM = /^app-[0-9a-f]+_bg\.wasm$/;
// Fetched beside the page, or only on demand; everything else is the first load.
const LATER = /^(viewer|worker|reader|lab|sw\.js|samples\/|examples\/)/;

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

const app = files.filter(({ name }) => APP_WASM.test(name));
if (app.length !== 1) {
  console.error(`sizes: ${dir} holds ${app.length} app wasm files, not one: run ./x build`);
  process.exit(1);
}
console.log(["bytes", "gzip -9", "brotli"].map((head) => head.padStart(10)).join("") + "  file");
for (const file of files) print(file);
print(sum("= first load", files.filter(({ name }) => !LATER.test(name))));
print(sum("= all", files));
const percent = (n) => `${((100 * n) / APP_WASM_BUDGET).toFixed(1)} %`;
console.log(`app wasm against its budget of 600 KiB: ${percent(app[0].gzip)} with gzip, ${percent(app[0].brotli)} with brotli`);
