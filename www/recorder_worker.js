// Python, and the recorder of NKI kernels in it: www/recorder_loader.js starts this worker and sends it files.
const folder = new URL("./python/", import.meta.url).href;
let python;

onmessage = async ({ data: [number, source, words] }) => {
  try {
    // A failed fetch is tried again by the next call.
    python ??= start().catch((error) => {
      python = undefined;
      throw error;
    });
    const { machine, record } = await python.then(async (python) => {
      // Values need arrays.
      if (words.some((word) => word.startsWith("--check"))) python.machine.registerJsModule("nki_arrays", await import(`${folder}arrays.js`));
      return python;
    }).catch((error) => {
      throw `Python could not be fetched (${error.message}); connect to the network and try again; once fetched, it is kept`;
    });
    postMessage({ isReady: true });
    const tell = (done, total) => postMessage({ number, said: `Values: ${done} of ${total} instructions` });
    postMessage({ number, list: record(source, words, tell) });
  } catch (error) {
    postMessage({ number, error: typeof error === "string" ? error : lastLine(error) });
  }
};

// What Python says last: the error and its sentence.
const lastLine = (error) => error.message.trim().split("\n").at(-1);

async function start() {
  const [{ loadPyodide }, files] = await Promise.all([
    import(`${folder}pyodide.mjs`),
    fetch(`${folder}recorder.json`).then((response) => response.json()),
  ]);
  const machine = await loadPyodide({ indexURL: folder });
  machine.FS.mkdirTree("/recorder/nki_recorder");
  for (const [name, text] of Object.entries(files)) machine.FS.writeFile(`/recorder/nki_recorder/${name}`, text);
  const record = machine.runPython(`
import io, sys
sys.path.insert(0, "/recorder")
from nki_recorder import values
from nki_recorder.__main__ import main

def record(source, words, tell):
    values.tell = tell
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(source), io.StringIO(), io.StringIO()
    try:
        code = main(list(words))
    except SystemExit as end:
        code = end.code
    finally:
        text, said = sys.stdout.getvalue(), sys.stderr.getvalue()
        sys.stdin, sys.stdout, sys.stderr = streams
    if code:
        lines = [line for line in said.splitlines() if line.strip()]
        raise RuntimeError(lines[-1].split("error: ")[-1] if lines else "Python said nothing")
    return text

record
`);
  return { machine, record };
}
