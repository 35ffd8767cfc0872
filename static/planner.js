/* Small helps on every page; each has its way without JavaScript. */
(() => {
  "use strict";
  const months = /[\t\n;]+/;

  /* A column pasted into a month grid fills the boxes that follow. */
  document.addEventListener("paste", (event) => {
    const box = event.target.closest("[data-month-grid] input");
    if (!box) return;
    const values = event.clipboardData.getData("text").trim().split(months);
    if (values.length < 2) return;
    event.preventDefault();
    const boxes = [...box.closest("[data-month-grid]").querySelectorAll("input")];
    const first = boxes.indexOf(box);
    values.forEach((value, i) => { if (boxes[first + i]) boxes[first + i].value = value.trim(); });
    box.dispatchEvent(new Event("change", { bubbles: true }));
  });

  /* Copies the address of the page. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    event.preventDefault();
    const text = button.dataset.copy === "address" ? window.location.href.split("#")[0] : button.dataset.copy;
    navigator.clipboard.writeText(text).then(() => { button.textContent = "Link copied"; });
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
  });

  /* Empty fields stay out of the address. */
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-tidy]");
    if (!form) return;
    for (const field of form.elements) {
      if (field.name && !field.value && field.type !== "submit") field.disabled = true;
    }
    setTimeout(() => { for (const field of form.elements) field.disabled = false; }, 0);
  });
})();
