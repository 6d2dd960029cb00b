// Starts the application. The Content-Security-Policy allows no inline script, so this file does what Trunk's inline
// loader would do: the names of the app's files, which carry a hash, are in two links of the page (see Trunk.toml).
const moduleUrl = document.getElementById("app-module").href;
const wasmUrl = document.getElementById("app-wasm").href;
// The other pages are a program of their own (src/web/lab.rs).
const labUrl = new URL("lab.js", document.baseURI).href;
const labWasmUrl = new URL("lab_bg.wasm", document.baseURI).href;

let parts;
let lab;

// The app asks for it when one of its pages is shown, or is about to be: by then it has made the element that the lab fills.
addEventListener("neuronscope:fetch-lab", async () => {
  try {
    await (lab ??= startLab());
    document.getElementById("load-failure")?.remove();
  } catch (error) {
    // Another click tries again.
    parts = lab = undefined;
    tell(`This page could not be loaded: ${error}. Choose it again, or reload.`);
    throw error;
  }
});

// Beside the app when the address names one of its pages.
if (!/^(#\/profile|#\/?$|$)/.test(location.hash)) fetchLab();

async function startLab() {
  const [{ default: init }, module_or_path] = await fetchLab();
  await init({ module_or_path });
}

function fetchLab() {
  parts ??= Promise.all([import(labUrl), WebAssembly.compileStreaming(fetch(labWasmUrl))]);
  // Whoever needs them is told.
  parts.catch(() => {});
  return parts;
}

function tell(text) {
  document.documentElement.dataset.state = "failed";
  const box = document.getElementById("load-failure") ?? document.createElement("p");
  box.id = "load-failure";
  box.setAttribute("role", "alert");
  box.textContent = text;
  document.body.prepend(box);
}

try {
  const { default: init } = await import(moduleUrl);
  await init({ module_or_path: wasmUrl });
} catch (error) {
  tell(`neuronscope could not start: ${error}. Reload the page; if it stays, use a current browser.`);
  throw error;
}
