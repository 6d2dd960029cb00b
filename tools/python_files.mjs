// Puts Python for the page into a folder, which trunk copies to dist/python: Pyodide from npm, and the recorder of NKI kernels as one file.
// Run: node tools/python_files.mjs
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const version = readFileSync(join(root, "tools/lib.sh"), "utf8").match(/^PYODIDE_VERSION=(\S+)/m)[1];
const out = join(root, "target/python");
const recorder = join(root, "src/python/python/neuronscope/nki_recorder");

function fetched() {
  const cache = process.env.NEURONSCOPE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? tmpdir(), ".cache"), "neuronscope");
  const folder = join(cache, "tools", `pyodide-${version}`);
  const found = join(folder, "node_modules/pyodide");
  if (!existsSync(join(found, "pyodide.asm.wasm"))) {
    const partial = `${folder}.partial`;
    const npm = ["install", "--prefix", partial, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", `pyodide@${version}`];
    mkdirSync(partial, { recursive: true });
    execFileSync("npm", npm, { stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" });
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
  }
  return found;
}

mkdirSync(out, { recursive: true });
const from = fetched();
for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "README.md"]) {
  copyFileSync(join(from, name), join(out, name));
}
copyFileSync(join(root, "www/recorder_arrays.js"), join(out, "arrays.js"));
const files = readdirSync(recorder).filter((name) => name.endsWith(".py")).sort();
writeFileSync(join(out, "recorder.json"), JSON.stringify(Object.fromEntries(files.map((name) => [name, readFileSync(join(recorder, name), "utf8")]))));
