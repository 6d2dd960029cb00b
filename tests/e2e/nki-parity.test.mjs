// The recorder of NKI kernels writes the same bytes in the page's Python and in the command line's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const kernels = ["written", "language"].flatMap((folder) => {
  const path = join(root, "tests/nki", folder);
  return readdirSync(path).filter((name) => name.endsWith(".py")).map((name) => join(path, name));
});
// Calls of files that do not call their kernels.
const calls = {
  "first_allocation.py": ["--shapes", "200x512,512x300"],
  "first_views.py::ragged_rows": ["--shapes", "200x512,512"],
  "first_views.py::functions": ["--shapes", "128x256"],
  "first_views.py::blocks": ["--shapes", "256x128,256x512"],
  "first_views.py::programs": ["--shapes", "256x1024,256x1024", "--grid", "2x2"],
  "second_views.py::views": ["--shapes", "256x512:bf16"],
  "second_views.py::products": ["--shapes", "256x128,256x512"],
};
let machine;

before(async () => {
  execFileSync("node", [join(root, "tools/python_files.mjs")]);
  const folder = join(root, "target/python");
  const { loadPyodide } = await import(join(folder, "pyodide.mjs"));
  machine = await loadPyodide({ indexURL: folder });
  machine.FS.mkdirTree("/recorder/nki_recorder");
  for (const [name, text] of Object.entries(JSON.parse(readFileSync(join(folder, "recorder.json"), "utf8")))) {
    machine.FS.writeFile(`/recorder/nki_recorder/${name}`, text);
  }
  machine.runPython(`
import io, sys
sys.path.insert(0, "/recorder")
from nki_recorder.__main__ import main

def record(source, words):
    sys.stdin, sys.stdout, kept = io.StringIO(source), io.StringIO(), sys.stdout
    try:
        main(list(words))
        return sys.stdout.getvalue()
    finally:
        sys.stdout = kept
`);
});

// -S: without packages, as in the page; the recorder's own folder stands alone, as the command line writes it.
const program = "import importlib.util, sys; s = importlib.util.spec_from_file_location('nki_recorder', sys.argv[1] + '/__init__.py', submodule_search_locations=[sys.argv[1]]); " +
  "m = sys.modules['nki_recorder'] = importlib.util.module_from_spec(s); s.loader.exec_module(m); from nki_recorder.__main__ import main; sys.exit(main(sys.argv[2:]))";
const native = (source, words) => {
  const recorder = join(root, "src/python/python/neuronscope/nki_recorder");
  return execFileSync("python3", ["-S", "-B", "-c", program, recorder, ...words], { input: source, encoding: "utf8", cwd: "/", maxBuffer: 1 << 28 });
};

test("lists are the same to the byte", () => {
  for (const path of kernels) {
    const name = path.split("/").at(-1);
    const targets = Object.keys(calls).filter((target) => target.split("::")[0] === name);
    for (const target of targets.length > 0 ? targets : [name]) {
      const source = readFileSync(path, "utf8");
      const words = [`/kernels/${target}`, "--source", ...(calls[target] ?? [])];
      const list = machine.globals.get("record")(source, words);
      assert.equal(list, native(source, words), target);
      assert.ok(JSON.parse(list).builds, target);
    }
  }
});

test("errors are the same", () => {
  const source = readFileSync(join(root, "src/forms/studies/nki/kernels/matmul.py"), "utf8").replace("(128, 512)", "(256, 512)");
  const words = ["/kernels/matmul.py", "--source", "--shapes", "1024x1024,1024x1024"];
  const list = machine.globals.get("record")(source, words);
  assert.equal(list, native(source, words));
  assert.equal(JSON.parse(list).errors[0].line, 15);
});
