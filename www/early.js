// Runs before the first paint, long before the programs start: sets the theme, notes which page the address names, and shows what stands
// ready for it. The start page is in index.html, and so are name and purpose of the others; the result of their own example is a file.
const root = document.documentElement;
const stored = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};
const keeps = (kind) => {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith(`neuronscope.${kind}.`));
  } catch {
    return false;
  }
};
const chosen = stored("neuronscope.theme");
root.dataset.theme = ["dark", "light"].includes(chosen) ? chosen : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
root.dataset.begins = /^(#\/?)?$/.test(location.hash) ? "start" : "elsewhere";
// The name and the purpose of another page stand in index.html until its program draws it.
const pathOf = (hash) => /^#\/(\w+)/.exec(hash)?.[1] ?? "";
const early = () => {
  root.dataset.early = pathOf(location.hash);
};
early();
addEventListener("hashchange", early);
// The list of what is kept is above the tours, whose place is known only once that list is there.
root.toggleAttribute("data-keeps", keeps("kept"));

// What a page shows for its own example (examples/, made by tests/e2e/examples.mjs), until its program has computed it.
const EXAMPLES = ["benchmark", "customop", "experiments", "fidelity", "guide", "inspect", "llm", "matmult", "nki", "numerics", "profile"];
const SWEEPS = ["benchmark", "experiments"];
const NARROW_PX = 640;
const LATE_MS = 3000;
const FRAME_MS = 16;
const LONGEST_DRAWING_MS = 2000;
const isParsed = new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true }));
let example;
if (root.dataset.theme === "dark") isParsed.then(offerLight);

async function showExample() {
  const path = pathOf(location.hash);
  // Only a bare address shows the example, and not where a sweep is kept that the page goes on with.
  if (!EXAMPLES.includes(path) || location.hash !== `#/${path}` || "given" in root.dataset || (SWEEPS.includes(path) && keeps("sweep"))) return;
  const answer = await fetch(`examples/${path}-${innerWidth <= NARROW_PX ? "phone" : "desk"}.html`).catch(() => undefined);
  if (!answer?.ok) return;
  const markup = await answer.text();
  await isParsed;
  // The program may have been faster, or have failed, or the reader may have given a file instead.
  const beginning = document.querySelector(`main[data-early="${path}"]`);
  if (example || !beginning || pathOf(location.hash) !== path || root.dataset.state === "failed" || "given" in root.dataset) return;
  example = document.createElement("main");
  // Where the link "Skip to content" leads, as in the page that follows.
  example.id = "main";
  example.tabIndex = -1;
  example.dataset.example = path;
  example.innerHTML = markup;
  // The head of index.html, until the app's own names the page.
  if (document.querySelector("main[data-static]")) nameInHead(path);
  document.getElementById("app-foot").before(example);
  root.toggleAttribute("data-example", true);
  setTimeout(sayLate, LATE_MS, example);
}

// The button of index.html offers the dark theme.
function offerLight() {
  const button = document.querySelector("main[data-static]") && document.querySelector(".site-tools > .plain");
  if (!button) return;
  button.textContent = "\u2600\ufe0e";
  button.ariaLabel = "Use the light theme";
}

function nameInHead(path) {
  document.querySelector(".brand").removeAttribute("aria-current");
  const link = document.querySelector(`#pages a[href="#/${path}"]`);
  link?.setAttribute("aria-current", "page");
  document.querySelector("#pages-toggle .name").textContent = link?.textContent ?? "Pages";
}

// On a slow line the example can be read for some seconds before its buttons work.
function sayLate(of) {
  if (example !== of) return;
  const note = document.createElement("p");
  note.className = "example-note";
  note.setAttribute("role", "status");
  note.textContent = "The program of this page is being loaded. Until then this is its stored example.";
  example.append(note);
}

function leaveExample() {
  example?.remove();
  example = undefined;
  root.removeAttribute("data-example");
}

// A page that has its result draws it a moment later: until then it is shorter, and the foot would jump up and down again.
function leaveWhenDrawn(leftMs) {
  if (!example) return;
  const page = document.querySelector("main#main:not([data-static], [data-example]) > *");
  const isHigh = () => page?.getBoundingClientRect().height >= Math.min(example.offsetHeight, innerHeight);
  if ((!("drawing" in root.dataset) && isHigh()) || leftMs <= 0) leaveExample();
  else setTimeout(leaveWhenDrawn, FRAME_MS, leftMs - FRAME_MS);
}

function followState() {
  if (example && pathOf(location.hash) !== example.dataset.example) leaveExample();
  const { state } = root.dataset;
  if (["done", "idle"].includes(state)) leaveWhenDrawn(LONGEST_DRAWING_MS);
  if (state === "failed" || "given" in root.dataset) leaveExample();
}

// www/boot.js waits for it: on a slow line the programs would take the line from it.
window.exampleIsThere = showExample();
addEventListener("hashchange", () => {
  if (pathOf(location.hash) !== example?.dataset.example) leaveExample();
  showExample();
});
new MutationObserver(followState).observe(root, { attributeFilter: ["data-state", "data-given"] });

// The browser would open a file in the place of the page that has no program yet: it waits for the app, whose own listeners get it.
const waiting = new DataTransfer();
// What a script puts into a drop has no entries, and without its entry a folder cannot be read.
waiting.entries = [];
function hold(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (event.type !== "drop") return;
  for (const file of event.dataTransfer.files) waiting.items.add(file);
  for (const item of event.dataTransfer.items) {
    const entry = item.webkitGetAsEntry();
    if (entry) waiting.entries.push(entry);
  }
}
addEventListener("dragover", hold);
addEventListener("drop", hold);
addEventListener("neuronscope:takes-files", () => {
  removeEventListener("dragover", hold);
  removeEventListener("drop", hold);
  if (waiting.files.length) dispatchEvent(new DragEvent("drop", { dataTransfer: waiting }));
}, { once: true });
