/* Small helps on the team's pages; each has its way without JavaScript. */
(() => {
  "use strict";

  /* Copies a secret that is shown once. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy-text]");
    if (!button) return;
    navigator.clipboard.writeText(button.dataset.copyText).then(
      () => { button.textContent = "Copied"; },
      () => { button.textContent = "Select it and copy"; },
    );
  });

  /* Shows how much of a chosen file was sent, and lets it be stopped. */
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-upload]");
    const file = form && form.querySelector("input[type=file]").files[0];
    if (!file) return;
    event.preventDefault();
    const box = form.querySelector("[data-upload-progress]");
    const bar = box.querySelector("progress");
    const words = box.querySelector("[data-upload-words]");
    const button = form.querySelector(".btn-primary");
    const request = new XMLHttpRequest();
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    const idle = (text) => { words.textContent = text; button.disabled = false; };

    request.upload.addEventListener("progress", (step) => {
      bar.value = (100 * step.loaded) / step.total;
      words.textContent = step.loaded < step.total ? `${megabytes(step.loaded)} of ${megabytes(step.total)} MB` : "done, reading";
    });
    request.addEventListener("load", () => {
      const there = new URL(request.responseURL);
      if (there.pathname !== new URL(form.action).pathname) {
        const same = there.pathname === window.location.pathname;
        window.location.assign(there);
        if (same) window.location.reload();
        return;
      }
      const refused = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("[data-upload]");
      if (refused) form.replaceWith(refused);
      else idle(`stopped: the server answered ${request.status}`);
    });
    request.addEventListener("error", () => idle("stopped: the connection failed; try again"));
    request.addEventListener("abort", () => idle("stopped; nothing was kept"));
    box.querySelector("[data-upload-cancel]").addEventListener("click", () => request.abort(), { once: true });
    request.open("POST", form.action);
    box.hidden = false;
    button.disabled = true;
    request.send(new FormData(form));
  });
})();
