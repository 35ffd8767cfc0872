/* Light or dark by the system until a visitor chooses; runs before the page is painted. */
(() => {
  "use strict";
  const root = document.documentElement;
  if (!("bsThemeBySystem" in root.dataset)) return;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { root.dataset.bsTheme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", follow);
  follow();
})();
