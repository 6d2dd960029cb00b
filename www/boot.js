// Starts the application. The Content-Security-Policy allows no inline script, so this file does what Trunk's inline
// loader would do: the names of the app's files, which carry a hash, are in two links of the page (see Trunk.toml).
const moduleUrl = document.getElementById("app-module").href;
const wasmUrl = document.getElementById("app-wasm").href;

try {
  const { default: init } = await import(moduleUrl);
  await init({ module_or_path: wasmUrl });
} catch (error) {
  document.documentElement.dataset.state = "failed";
  const box = document.createElement("p");
  box.setAttribute("role", "alert");
  box.textContent = `neuronscope could not start: ${error}. Reload the page; if it stays, use a current browser.`;
  document.body.prepend(box);
  throw error;
}
