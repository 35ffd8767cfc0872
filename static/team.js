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

  /* On a phone the plan for all projects stands where the form asked for it; one tap opens that again. */
  function foldAsking() {
    const asking = document.getElementById("portfolio-asking");
    if (!asking || !document.getElementById("portfolio-advice")) return;
    if (window.matchMedia("(max-width: 767px)").matches) asking.open = false;
  }
  document.addEventListener("DOMContentLoaded", foldAsking);
  document.addEventListener("htmx:afterSwap", foldAsking);

  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

  /* The files that were chosen stay chosen in the form that takes the place of theirs. */
  function restoreFiles(form, place) {
    const box = place.querySelector("input[type=file]");
    if (!box) return;
    box.files = form.querySelector("input[type=file]").files;
  }

  /* The eye and the keyboard go on where the answer is: what was refused, the result. */
  function showOutcome(place) {
    const outcome = place.querySelector(".is-invalid, #usage-result");
    outcome?.focus();
  }

  /* Where the server sent the browser, or the form with what was refused in it; a form that names the
     place of its answer gets it there. */
  function showReply(request, form, stop) {
    const place = form.dataset.uploadReply;
    if (place) {
      const answered = new DOMParser().parseFromString(request.responseText, "text/html").querySelector(place);
      if (answered) {
        document.querySelector(place).replaceWith(answered);
        restoreFiles(form, answered);
        showOutcome(answered);
      } else stop(`stopped: the server answered ${request.status}`);
      return;
    }
    const reply = new URL(request.responseURL);
    if (request.status < 400) {
      window.location.assign(reply);
      if (reply.pathname === window.location.pathname) window.location.reload();
      return;
    }
    const refused = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("[data-upload]");
    if (refused) {
      form.replaceWith(refused);
      restoreFiles(form, refused);
      showOutcome(refused);
    } else stop(`stopped: the server answered ${request.status}`);
  }

  function showProgress(step, bar, words) {
    bar.value = (100 * step.loaded) / step.total;
    words.textContent = step.loaded < step.total
      ? `${megabytes(step.loaded)} of ${megabytes(step.total)} MB`
      : "done, reading";
  }

  function upload(form) {
    const box = form.querySelector("[data-upload-progress]");
    const words = box.querySelector("[data-upload-words]");
    const button = form.querySelector(".btn-primary");
    const request = new XMLHttpRequest();
    const stop = (text) => {
      words.textContent = text;
      button.disabled = false;
    };
    request.upload.addEventListener("progress", (step) => showProgress(step, box.querySelector("progress"), words));
    request.addEventListener("load", () => showReply(request, form, stop));
    request.addEventListener("error", () => stop("stopped: the connection failed; try again"));
    request.addEventListener("abort", () => stop("stopped; nothing was kept"));
    box.querySelector("[data-upload-cancel]").addEventListener("click", () => request.abort(), { once: true });
    request.open("POST", form.action);
    box.hidden = false;
    button.disabled = true;
    request.send(new FormData(form));
  }

  /* Shows how much of a chosen file was sent, and lets it be stopped. */
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-upload]");
    if (!form?.querySelector("input[type=file]").files[0]) return;
    event.preventDefault();
    upload(form);
  });
})();
