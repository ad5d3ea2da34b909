// Light or dark: what the reader chose, else what the system says. It runs before the page is drawn, so that nothing flashes.

(() => {
  const KEY = "counterpoint-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  /** A browser may keep nothing for this page: then the choice lasts until it is left. */
  function kept(act) {
    try {
      return act(localStorage);
    } catch {
      return null;
    }
  }

  // The page's modules keep their choices in the same way.
  window.kept = kept;

  // The button names what it turns to.
  const notify = () => {
    const button = document.getElementById("theme");
    if (button) button.textContent = isDark() ? "Light mode" : "Dark mode";
  };

  function turn() {
    const wanted = isDark() ? "light" : "dark";
    // Back at what the system says, the page follows the system again.
    if ((wanted === "dark") === system.matches) {
      delete root.dataset.theme;
      kept((store) => store.removeItem(KEY));
    } else {
      root.dataset.theme = wanted;
      kept((store) => store.setItem(KEY, wanted));
    }
    notify();
  }

  const chosen = kept((store) => store.getItem(KEY));
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  system.addEventListener("change", notify);
  addEventListener("DOMContentLoaded", () => {
    notify();
    document.getElementById("theme").addEventListener("click", turn);
  });
})();
