/* Light or dark by the system until a visitor chooses; runs before the page is painted. */
(() => {
  "use strict";
  const root = document.documentElement;
  if (!("bsThemeBySystem" in root.dataset)) return;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  /* Swagger UI goes by a class. */
  const follow = () => {
    root.dataset.bsTheme = dark.matches ? "dark" : "light";
    root.classList.toggle("dark-mode", dark.matches);
  };
  dark.addEventListener("change", follow);
  follow();
})();
