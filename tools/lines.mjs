// Prints the lines of Rust in each crate. More than at the last release need a line in CHANGELOG.md, which says what users got for them.
// Run: node tools/lines.mjs
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const source = new Map();
for (const file of readdirSync(`${root}src`, { recursive: true }).filter((name) => name.endsWith(".rs"))) {
  const crate = file.includes("/") ? file.split("/")[0] : "neuronscope";
  const lines = readFileSync(`${root}src/${file}`, "utf8").split("\n").length - 1;
  source.set(crate, (source.get(crate) ?? 0) + lines);
}
const total = [...source.values()].reduce((sum, n) => sum + n, 0);
for (const [crate, lines] of [...source].sort((a, b) => b[1] - a[1])) console.log(`${String(lines).padStart(8)}  ${crate}`);
console.log(`${String(total).padStart(8)}  src/`);

/** The last number of lines that a section names: "`src/` has 218,369 lines". */
const named = (text) => Number([...text.matchAll(/`src\/` has ([\d,]+) lines/g)].at(-1)?.[1].replaceAll(",", "") ?? 0);
const [next, ...releases] = readFileSync(`${root}CHANGELOG.md`, "utf8").split(/^## /m).slice(1);
const allowed = Math.max(named(next), named(releases.join("")));
if (total > allowed) {
  console.error(`lines: src/ has ${total} lines, and CHANGELOG.md names ${allowed}: write "\`src/\` has ${total} lines: ..." there, with what users got for them`);
  process.exit(1);
}
