// One form for the files that rustfmt does not know: scripts, pages, styles, documents, settings. It needs no package.
// Run: node tools/tidy.mjs [--fix]. Without --fix it lists what is not tidy, and ends with 1.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TIDIED = new Set([".css", ".html", ".js", ".json", ".md", ".mjs", ".py", ".sh", ".sql", ".toml", ".webmanifest", ".yml"]);
const ALSO = new Set([".editorconfig", ".gitignore", "x", ".ci/run"]);
// Test data is kept to the byte; a program writes lock files.
const KEPT = /^tests\/(it\/(fixtures|snapshots)|nki\/(matmul|lists|written))\/|^proptest-regressions\/|(^|\/)(Cargo\.lock|package-lock\.json)$/;
const SHELL = /\.sh$|^x$|^\.ci\/run$/;
const SCRIPT = /\.(m?js|sh|py)$|^x$|^\.ci\/run$/;

/** Whether a file of the repository has the form. */
export const isTidied = (path) => !KEPT.test(path) && (TIDIED.has(extname(path)) || ALSO.has(path));

/** The text with everything fixed that can be fixed automatically: ends of lines, blanks at their ends, the end of the file. */
export function tidied(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const body = lines.map((line) => line.replace(/[ \t]+$/, "")).join("\n");
  return body.trim() === "" ? "" : `${body.replace(/^\n+/, "").replace(/\n+$/, "")}\n`;
}

/** What is not tidy in a text: `line: why` for each place. */
export function untidy(path, text) {
  const found = [];
  const lines = text.split("\n");
  lines.forEach((line, at) => {
    const say = (why) => found.push(`${at + 1}: ${why}`);
    if (line.endsWith("\r")) say("ends with a carriage return");
    else if (/[ \t]$/.test(line)) say("blanks at the end of the line");
    if (SCRIPT.test(path) && /^ *\t/.test(line)) say("indented with a tab");
  });
  if (text !== "" && !text.endsWith("\n")) found.push(`${lines.length}: no line break at the end of the file`);
  if (text.endsWith("\n\n")) found.push(`${lines.length - 1}: empty lines at the end of the file`);
  return found;
}

// The messages of a script's interpreter when it only parses the script.
function syntax(path, root) {
  const [program, flag] = SHELL.test(path) ? ["bash", "-n"] : extname(path) === ".mjs" ? ["node", "--check"] : [];
  if (!program) return [];
  const { status, stderr } = spawnSync(program, [flag, join(root, path)], { encoding: "utf8" });
  return status === 0 ? [] : [`syntax: ${stderr.trim()}`];
}

function main() {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const fix = process.argv.includes("--fix");
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  let files = 0;
  let places = 0;
  for (const path of listed.split("\n").filter((name) => name && isTidied(name))) {
    let text;
    try {
      text = readFileSync(join(root, path), "utf8");
    } catch {
      continue; // Removed, and not yet committed.
    }
    files += 1;
    if (fix && tidied(text) !== text) {
      text = tidied(text);
      writeFileSync(join(root, path), text);
    }
    for (const place of [...untidy(path, text), ...syntax(path, root)]) {
      places += 1;
      console.error(`${path}:${place}`);
    }
  }
  if (places > 0) console.error(`tidy: ${places} places in ${files} files; ./x format mends what can be mended by itself`);
  process.exitCode = places > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
