// Starts the application. The Content-Security-Policy allows no inline script, so this file does what Trunk's inline
// loader would do: the names of the app's files, which carry a hash, are in two links of the page (see Trunk.toml).
const moduleUrl = document.getElementById("app-module").href;
const wasmUrl = document.getElementById("app-wasm").href;
// The other pages are a program of their own (src/web/lab.rs).
const labUrl = new URL("lab.js", document.baseURI).href;
const labWasmUrl = new URL("lab_bg.wasm", document.baseURI).href;

const LONGEST_WAIT_FOR_PAINT_MS = 1000;

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

// The start page stands in index.html, and the result of a page's example comes as a small file: on a slow line the programs would
// take the line from its picture, or from this file.
const firstSightIsPainted = () =>
  new Promise((resolve) => {
    // A second frame begins when the first one is on the screen.
    const afterPaint = () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
    if (document.documentElement.dataset.begins !== "start") window.exampleIsThere.then(afterPaint);
    else if (document.readyState === "complete") afterPaint();
    else addEventListener("load", afterPaint, { once: true });
    // A tab in the background paints nothing, and a file may not come.
    setTimeout(resolve, LONGEST_WAIT_FOR_PAINT_MS);
  });

try {
  await firstSightIsPainted();
  // Beside the app when the address names one of its pages.
  if (!/^(#\/profile|#\/?$|$)/.test(location.hash)) fetchLab();
  const module_or_path = WebAssembly.compileStreaming(fetch(wasmUrl));
  // The import may fail first, and that failure is the one that is told.
  module_or_path.catch(() => {});
  const { default: init } = await import(moduleUrl);
  await init({ module_or_path: await module_or_path });
} catch (error) {
  tell(`neuronscope could not start: ${error}. Reload the page; if it stays, use a current browser.`);
  throw error;
}

// A copy of all files for days without a network. It takes the line and a processor for a while, so the first result comes before it.
const ENDS = ["done", "idle", "failed"];
const COPY_AFTER_MS = 1000;
const states = new MutationObserver(keepForOffline);
function keepForOffline() {
  if (!ENDS.includes(document.documentElement.dataset.state)) return;
  states.disconnect();
  // A private window and a page by plain http have no service worker, and a refusal is no error of the page.
  if (isSecureContext) setTimeout(() => navigator.serviceWorker?.register("sw.js").catch(() => {}), COPY_AFTER_MS);
}
states.observe(document.documentElement, { attributeFilter: ["data-state"] });
keepForOffline();
