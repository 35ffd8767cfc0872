/* What an open answer remembers while its assumptions are changed: the total of before, the tab in view. */
(() => {
  "use strict";
  const text = (name) => document.querySelector(`[data-${name}]`)?.textContent.trim() || "";
  let first = null;

  const isFigures = (event) => event.detail.target?.id === "figures";
  function remember(event) {
    if (isFigures(event)) first ??= text("total");
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

  /* A reader of the screen hears of each new total once. */
  function announce() {
    tellWas();
    document.querySelectorAll("[data-read]").forEach((one) => { one.textContent = ""; });
    document.getElementById("announced").textContent = `Expected ${text("total")}, ${text("was")}`;
  }

  /* Beside each box of the assumptions whether its value is given; messages about former changes go. */
  function writeStates() {
    const given = new Set(document.getElementById("box-states")?.dataset.given.split(" "));
    for (const one of document.querySelectorAll("#assumptions [data-state]")) {
      one.textContent = given.has(one.dataset.state) ? "given" : "default";
    }
    for (const one of document.querySelectorAll("#assumptions td .invalid-text")) one.textContent = "";
  }

  /* A driver that is moved: the total is read at once from its curve, straight between its three points; on release its
     box asks for the whole answer. The curve is that of this plan: where another is advised, it is the most to expect.
     Scale and thumb stay as they are. */
  function readCurve(points, x) {
    const [low, now, high] = points;
    const [from, to] = x < now[0] ? [low, now] : [now, high];
    return to[0] === from[0] ? now[1] : from[1] + ((x - from[0]) * (to[1] - from[1])) / (to[0] - from[0]);
  }
  document.addEventListener("input", (event) => {
    const thumb = event.target.closest("[data-driver]");
    if (!thumb) return;
    const points = JSON.parse(document.getElementById("box-states").dataset.curves)[thumb.dataset.driver];
    const value = Number(Number(thumb.value).toPrecision(4)).toLocaleString("en");
    thumb.parentElement.querySelector("output").textContent = value;
    if (!points) return;
    const [, now, , turn] = points;
    const isTurned = turn !== null && (Number(thumb.value) - turn) * (now[0] - turn) < 0;
    const currency = text("total").split(/\s/).pop();
    const total = Math.round(readCurve(points, Number(thumb.value))).toLocaleString("en");
    const told = `${isTurned ? "at most" : "about"} ${total} ${currency}`;
    thumb.parentElement.querySelector("[data-read]").textContent = told;
    if (!thumb.dataset.box) return;
    first ??= text("total");
    document.querySelector("[data-total]").textContent = `${total} ${currency}`;
  });
  document.addEventListener("change", (event) => {
    const thumb = event.target.closest("[data-driver]");
    const box = document.getElementById(thumb?.dataset.box || "");
    if (!box) return;
    box.value = String(Number((thumb.value * thumb.dataset.factor).toPrecision(6)));
    box.dispatchEvent(new Event("change", { bubbles: true }));
  });
  document.addEventListener("DOMContentLoaded", () => document.getElementById("sliders")?.removeAttribute("hidden"));

  /* What else can be done with the answer has room beside its total on a desk; on a phone it unfolds. */
  const narrow = window.matchMedia("(max-width: 767px)");
  function foldActions() {
    const more = document.querySelector(".more-actions");
    if (more) more.open = !narrow.matches;
  }
  narrow.addEventListener("change", foldActions);
  document.addEventListener("DOMContentLoaded", foldActions);

  document.addEventListener("htmx:beforeSwap", remember);
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    const { id } = event.detail.target;
    if (id === "box-states") writeStates();
    if (id === "answer-bar") { foldActions(); announce(); }
  });

  /* Undo goes back by one address, which loads the page anew. What it must still know then is kept in the session: the
     addresses from the first on, which of them is in view, and the total of the first. The tab stays in the address. */
  const WAY = "answer-way";
  const here = () => window.location.pathname + window.location.search;
  const keep = (way) => window.sessionStorage.setItem(WAY, JSON.stringify(way));
  let way = { places: [here()], at: 0 };
  let tab = "";
  document.addEventListener("htmx:beforeHistoryUpdate", () => { tab = window.location.hash; });
  document.addEventListener("htmx:pushedIntoHistory", () => {
    if (tab) window.history.replaceState(window.history.state, "", here() + tab);
    way = { places: [...way.places.slice(0, way.at + 1), here()], at: way.at + 1 };
    keep({ ...way, first });
  });
  window.addEventListener("popstate", () => {
    const at = Math.max(way.at - 1, 0);
    way.at = way.places[at] === here() ? at : way.places.lastIndexOf(here());
    keep({ ...way, first });
  });
  function resume() {
    const kept = JSON.parse(window.sessionStorage.getItem(WAY) || "null");
    const isOpened = window.performance.getEntriesByType("navigation")[0]?.type === "navigate";
    if (isOpened || !kept || kept.places[kept.at] !== here()) return void window.sessionStorage.removeItem(WAY);
    way = { places: kept.places, at: kept.at };
    first = kept.first;
    if (way.at > 0) tellWas();
  }
  document.addEventListener("DOMContentLoaded", resume);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-undo]")) window.history.back();
  });
})();
