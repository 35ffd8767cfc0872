/* Small helps on every page; each has its way without JavaScript. */
(() => {
  "use strict";

  /* On a phone the navigation unfolds below its button. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-toggles]");
    if (!button) return;
    const isOpen = document.getElementById(button.dataset.toggles).classList.toggle("show");
    button.setAttribute("aria-expanded", String(isOpen));
  });

  /* The text of a month grid as boxes, one for each month; the text stays what is sent. */
  const months = (form) => {
    const start = /^(\d{4})-(\d{2})$/.exec(form.elements.start?.value || "");
    const count = Math.min(Math.max(parseInt(form.elements.horizon_months?.value || "36", 10) || 36, 1), 120);
    return Array.from({ length: count }, (_, i) => {
      if (!start) return `month ${i}`;
      const at = Number(start[2]) - 1 + i;
      return `${Number(start[1]) + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`;
    });
  };
  const parts = (text) => text.trim().split(/[\s;]+|,(?!\d{3}\b)/).filter(Boolean).map((one) => one.replace(/,/g, ""));

  function fillGrid(grid) {
    const text = document.getElementById(grid.dataset.monthGrid);
    const list = grid.querySelector(".month-boxes");
    if (!text || !list) return;
    const given = parts(text.value);
    list.replaceChildren(...months(text.form).map((label, i) => {
      const cell = document.createElement("label");
      const box = document.createElement("input");
      box.className = "form-control form-control-sm text-end";
      box.inputMode = "decimal";
      box.value = given.length === 1 ? given[0] : given[i] ?? "";
      cell.append(label, box);
      return cell;
    }));
  }
  function writeGrid(grid) {
    const text = document.getElementById(grid.dataset.monthGrid);
    text.value = [...grid.querySelectorAll(".month-boxes input")].map((box) => box.value.trim() || "0").join("\n");
    text.dispatchEvent(new Event("change", { bubbles: true }));
  }
  function makeGrids() {
    for (const grid of document.querySelectorAll("[data-month-grid]:empty")) {
      const fold = document.createElement("details");
      const title = document.createElement("summary");
      const list = document.createElement("div");
      title.textContent = "Month by month";
      list.className = "month-boxes";
      fold.append(title, list);
      fold.addEventListener("toggle", () => { if (fold.open) fillGrid(grid); });
      grid.append(fold);
      const text = document.getElementById(grid.dataset.monthGrid);
      if (text && parts(text.value).length > 1) fold.open = true;
    }
  }
  document.addEventListener("DOMContentLoaded", makeGrids);
  document.addEventListener("input", (event) => {
    const grid = event.target.closest("[data-month-grid]");
    if (grid) event.stopPropagation();
  }, true);
  document.addEventListener("change", (event) => {
    const grid = event.target.closest("[data-month-grid]");
    if (grid) {
      event.stopPropagation();
      writeGrid(grid);
    } else if (["start", "horizon_months"].includes(event.target.name)) {
      document.querySelectorAll("[data-month-grid]").forEach(fillGrid);
    }
  }, true);

  /* A column pasted into the grid fills the boxes that follow. */
  document.addEventListener("paste", (event) => {
    const box = event.target.closest("[data-month-grid] input");
    if (!box) return;
    const values = parts(event.clipboardData.getData("text"));
    if (values.length < 2) return;
    event.preventDefault();
    const grid = box.closest("[data-month-grid]");
    const boxes = [...grid.querySelectorAll("input")];
    const first = boxes.indexOf(box);
    values.forEach((value, i) => { if (boxes[first + i]) boxes[first + i].value = value; });
    writeGrid(grid);
  });

  /* A field that is chosen is written into the box of JSON, at its place. */
  document.addEventListener("change", (event) => {
    const name = event.target.closest("[data-completes]");
    if (!name?.value.trim()) return;
    const box = document.getElementById(name.dataset.completes);
    let whole;
    try {
      whole = JSON.parse(box.value || "{}");
    } catch { return; }
    const path = name.value.trim().split(".");
    const last = path.pop();
    const place = path.reduce((here, one) => (here[one] ??= {}), whole);
    place[last] ??= null;
    box.value = JSON.stringify(whole, null, 1);
    name.value = "";
    box.focus();
    const at = box.value.indexOf("null", box.value.indexOf(`"${last}"`));
    if (at >= 0) box.setSelectionRange(at, at + 4);
  });

  /* Copies a link instead of following it. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    event.preventDefault();
    const text = new URL(button.dataset.copy, window.location.href).href;
    navigator.clipboard.writeText(text).then(
      () => { button.textContent = "Link copied"; },
      () => { window.location.assign(text); },
    );
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
  });
  /* A link into a fold opens it. */
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    const fold = target?.closest("details:not([open])");
    if (!fold) return;
    fold.open = true;
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", openTarget);
  document.addEventListener("DOMContentLoaded", openTarget);

  /* What is folded away on the screen alone stands open on paper. */
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details[data-on-paper]:not([open])")];
    opened.forEach((one) => { one.open = true; });
  });
  window.addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));

  /* An edit that the server did not answer is said below the total, or above the panel that would have followed;
     nothing typed is lost. */
  const UNANSWERED = "The server did not answer. The figures are still those from before the change; change the value "
    + "again";
  const unanswered = (event) => {
    const panel = event.detail.target?.closest("#live");
    const place = panel || document.getElementById("refused");
    if (!place) return;
    const note = document.createElement("div");
    note.className = "alert alert-danger";
    note.setAttribute("role", "alert");
    note.textContent = panel ? `${UNANSWERED}.` : `${UNANSWERED} or press Recalculate.`;
    if (!panel) return void place.replaceChildren(note);
    panel.querySelector(":scope > [role='alert']")?.remove();
    panel.firstElementChild?.classList.add("stale");
    panel.prepend(note);
  };
  for (const name of ["responseError", "sendError", "timeout"]) {
    document.addEventListener(`htmx:${name}`, unanswered);
  }

  /* Empty fields stay out of the address. */
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-tidy]");
    if (!form) return;
    for (const field of form.elements) {
      if (field.name && !field.value && field.type !== "submit") field.disabled = true;
    }
    setTimeout(() => { for (const field of form.elements) field.disabled = false; }, 0);
  });

  /* Of a form that was refused, the first box to correct is next, wherever on the page it stands. */
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector("main form[method=post] .is-invalid")?.focus();
  });

  /* What is typed into a form survives a reload and the way back, in this tab; a link to the page
     begins afresh. */
  const typedInto = (form) => [...form.elements].filter(
    (field) => field.name && !["hidden", "file", "password", "submit"].includes(field.type),
  );
  const isTicked = (field) => ["radio", "checkbox"].includes(field.type);
  const nameOf = (form) => `typed ${window.location.pathname}${window.location.search} ${form.id}`;

  function remember(event) {
    const form = event.target.closest?.("form[data-remember]");
    if (!form) return;
    const typed = typedInto(form).map((field) => [field.name, isTicked(field) ? field.checked : field.value]);
    try {
      window.sessionStorage.setItem(nameOf(form), JSON.stringify(typed));
    } catch { /* A full or forbidden store: the form works without. */ }
  }

  function restore(form) {
    const typed = JSON.parse(window.sessionStorage.getItem(nameOf(form)) || "null");
    const fields = typedInto(form);
    if (!typed || typed.length !== fields.length) return;
    let last = null;
    fields.forEach((field, i) => {
      const [name, value] = typed[i];
      const property = isTicked(field) ? "checked" : "value";
      if (field.name !== name || field[property] === value) return;
      field[property] = value;
      last = field;
    });
    last?.dispatchEvent(new Event("change", { bubbles: true }));
  }

  document.addEventListener("input", remember);
  document.addEventListener("change", remember);
  window.addEventListener("load", () => {
    const [visit] = performance.getEntriesByType("navigation");
    if (["reload", "back_forward"].includes(visit?.type)) {
      document.querySelectorAll("form[data-remember]").forEach(restore);
    }
  });
})();
