// Runs before the first paint, long before the programs start: sets the theme, and notes whether the address is that of the start page.
// Its markup is in index.html until the app replaces it. With another address only the head is shown (www/workspace.css).
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
// The name and the purpose of another page stand in index.html until its program draws it.
const early = () => {
  root.dataset.early = /^#\/(\w+)/.exec(location.hash)?.[1] ?? "";
};
early();
addEventListener("hashchange", early);
// The list of what is kept is above the tours, whose place is known only once that list is there.
root.toggleAttribute("data-keeps", keeps());
