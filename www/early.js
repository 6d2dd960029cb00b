// Before the first paint, which comes long before the programs: the theme, and whether the address is that of the start page, whose markup
// stands in index.html until the app takes its place. With another address the head stands there alone (www/workspace.css).
const root = document.documentElement;
const stored = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};
const keeps = () => {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith("neuronscope.kept."));
  } catch {
    return false;
  }
};
const chosen = stored("neuronscope.theme");
root.dataset.theme = ["dark", "light"].includes(chosen) ? chosen : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
root.dataset.begins = /^(#\/?)?$/.test(location.hash) ? "start" : "elsewhere";
// What is kept stands above the tours, whose place is known when it has been listed.
root.toggleAttribute("data-keeps", keeps());
