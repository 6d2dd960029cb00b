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
  machine.registerJsModule("nki_arrays", await import(join(folder, "arrays.js")));
  machine.runPython(`
import io, sys
sys.path.insert(0, "/recorder")
from nki_recorder import arrays as np
from nki_recorder.__main__ import main

def record(source, words):
    sys.stdin, sys.stdout, kept = io.StringIO(source), io.StringIO(), sys.stdout
    try:
        main(list(words))
        return sys.stdout.getvalue()
    finally:
        sys.stdout = kept

# The shape of a result, and the sum of its elements, each times another number.
def weighed(value):
    if isinstance(value, (list, tuple)):
        return [weighed(one) for one in value]
    value = np.asarray(value, dtype=np.float64)
    return [list(value.shape), float((np.ravel(value) * np.cos(np.arange(value.size))).sum())]
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

const checks = JSON.parse(readFileSync(join(root, "tests/nki/checks.json"), "utf8"));
const near = (found, wanted, of) => {
  if (Array.isArray(wanted)) wanted.forEach((one, at) => near(found[at], one, of));
  else if (typeof wanted === "number") assert.ok(Math.abs(found - wanted) <= 1e-6 * Math.max(Math.abs(wanted), 1e-9), `${of}: ${found} and not ${wanted}`);
  else assert.equal(found, wanted, of);
};

test("values are those that NumPy gives", () => {
  for (const [kernel, words, expression, wanted] of checks.kernels) {
    const path = join(root, "tests/nki", kernel.split("::")[0]);
    const all = [`/kernels/${kernel.split("/").at(-1)}`, "--source", ...words, "--check", expression];
    const { check } = JSON.parse(machine.globals.get("record")(readFileSync(path, "utf8"), all));
    assert.equal(check.expression, expression);
    for (const [key, value] of Object.entries(wanted)) near(check[key], value, `${kernel}: ${key}`);
  }
  const large = ["/kernels/silu.py::blocks", "--source", "--shapes", "128x64x4096", "--set", "ROWS=2", "--check", "x"];
  const { check } = JSON.parse(machine.globals.get("record")(readFileSync(join(root, "tests/nki/calibration/silu.py"), "utf8"), large));
  assert.match(check.error, /have 67,108,864 elements, and the page computes with 33,554,432 at most/);
});

test("expressions are computed as NumPy does", () => {
  for (const line of checks.inputs) machine.runPython(line);
  for (const [expression, wanted] of Object.entries(checks.expressions)) {
    near(JSON.parse(machine.runPython(`import json\njson.dumps(weighed(${expression}))`)), wanted, expression);
  }
  // Sentences in the place of names of NumPy that there are not, and of shapes that do not fit.
  for (const [expression, sentence] of [["np.fft", /the page has no np.fft; the command line has all of NumPy/], ["a @ a", /a product of \(3,4\) and \(3,4\)/], ["a + c[0, :2]", /do not go together/]]) {
    assert.throws(() => machine.runPython(expression), sentence);
  }
});
