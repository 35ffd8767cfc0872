/* What an open answer remembers while its assumptions are changed: the total of before, open folds. */
(() => {
  "use strict";
  const text = (name) => document.querySelector(`[data-${name}]`)?.textContent.trim() || "";
  let first = null;
  let open = [];

  function remember(event) {
    if (event.detail.target?.id !== "figures") return;
    first ??= text("total");
    open = [...document.querySelectorAll("details[id][open]")].map((one) => one.id);
  }

  function reopen() {
    for (const id of open) {
      const fold = document.getElementById(id);
      if (fold) fold.open = true;
    }
  }

  /* The total as it stood when the page was opened, and the way back. */
  function tellWas() {
    const was = document.querySelector("[data-was]");
    if (!was || first === null) return;
    const changed = first !== text("total");
    was.textContent = changed ? `was ${first}` : "as before";
    was.hidden = false;
    document.querySelector("[data-undo]").hidden = false;
  }

  document.addEventListener("htmx:beforeSwap", remember);
  document.addEventListener("htmx:afterSwap", reopen);
  document.addEventListener("htmx:oobAfterSwap", () => { reopen(); tellWas(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-undo]")) window.history.back();
  });

  /* An address that names a part of a fold opens it. */
  function openTarget() {
    const target = document.getElementById(window.location.hash.slice(1));
    const fold = target?.closest("details");
    if (fold) fold.open = true;
  }
  document.addEventListener("DOMContentLoaded", openTarget);
  window.addEventListener("hashchange", openTarget);
})();
