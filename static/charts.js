/* Draws the chart documents that pages carry beside their tables (planner/web/charts.py). */
(() => {
  "use strict";
  const PALETTE = {
    light: {
      owned: "#1b6e53", committed: "#0b5cad", on_demand: "#b45309", spot: "#8a3ffc", demand: "#17212b",
      on_prem: "#1b6e53", hybrid: "#c02a6b", cloud_mix: "#00778a", text: "#3d4852", line: "#d5dae0", paper: "#ffffff",
      low: "#0b5cad", high: "#b45309",
    },
    dark: {
      owned: "#4cc79b", committed: "#6cb2f5", on_demand: "#f0a850", spot: "#c4a0ff", demand: "#f4f6f8",
      on_prem: "#4cc79b", hybrid: "#ff85b8", cloud_mix: "#4fd3e3", text: "#c5ced8", line: "#3a4653", paper: "#182433",
      low: "#6cb2f5", high: "#f0a850",
    },
  };
  const REST = ["#0b5cad", "#b45309", "#1b6e53", "#8a3ffc", "#c02a6b", "#00778a", "#7a5c00", "#5b6770", "#a01919", "#3f6212"];
  const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
  const DECALS = [null, { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: 0.8 }, { symbol: "circle", symbolSize: 0.6 }, { symbol: "rect", dashArrayX: [[8, 8], [0, 8, 8, 0]], dashArrayY: [6, 0] }];

  const theme = () => PALETTE[document.documentElement.dataset.bsTheme === "dark" ? "dark" : "light"];
  const colour = (role, i) => theme()[role] || REST[i % REST.length];
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  const full = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
  const money = (value) => (value === null || value === undefined ? "not known" : full.format(value));

  function base(doc) {
    const paint = theme();
    return {
      animation: false,
      textStyle: { color: paint.text, fontFamily: "inherit" },
      color: doc.series.map((one, i) => colour(one.role, i)),
      grid: { left: 12, right: 24, top: 44, bottom: 40, containLabel: true },
      legend: { top: 0, type: "scroll", textStyle: { color: paint.text }, pageTextStyle: { color: paint.text } },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, valueFormatter: money },
      aria: { enabled: true, label: { description: doc.summary || doc.title } },
    };
  }
  const axis = (name, more) => ({
    name, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: theme().text },
    axisLabel: { color: theme().text, hideOverlap: true }, axisLine: { lineStyle: { color: theme().line } },
    splitLine: { lineStyle: { color: theme().line } }, ...more,
  });
  const valueAxis = (name, more) => axis("", { type: "value", axisLabel: { color: theme().text, formatter: (v) => short.format(v) }, name, nameLocation: "end", nameGap: 10, nameTextStyle: { color: theme().text, align: "left" }, ...more });

  // A label near the end of the axis stands inside the chart.
  function side(doc, mark) {
    const first = doc.x[0], last = doc.x[doc.x.length - 1];
    const share = typeof mark.x === "number" && typeof last === "number" ? (mark.x - first) / (last - first) : doc.x.indexOf(mark.x) / (doc.x.length - 1);
    return share > 0.75 ? "left" : share < 0.1 ? "right" : "top";
  }

  function marks(doc) {
    if (!doc.marks.length) return undefined;
    return {
      symbol: "circle", symbolSize: 10, itemStyle: { color: theme().demand },
      label: { formatter: (p) => p.name, position: "top", color: theme().text, backgroundColor: theme().paper, padding: 4, borderRadius: 3 },
      data: doc.marks.map((mark) => ({ name: mark.label, label: { position: side(doc, mark) }, coord: [typeof mark.x === "number" ? mark.x : String(mark.x), mark.y] })),
    };
  }

  const DRAW = {
    line(doc) {
      const numeric = doc.x.length > 0 && doc.x.every((v) => typeof v === "number");
      return {
        ...base(doc),
        xAxis: numeric ? axis(doc.x_label, { type: "value", min: Math.min(...doc.x), max: Math.max(...doc.x) }) : axis(doc.x_label, { type: "category", data: doc.x.map(String), boundaryGap: false }),
        yAxis: valueAxis(doc.y_label),
        series: doc.series.map((one, i) => ({
          type: "line", name: one.name, symbol: SYMBOLS[i % SYMBOLS.length], showSymbol: doc.x.length < 40, symbolSize: 5,
          data: one.values.map((v, k) => (numeric ? [doc.x[k], v] : v)),
          lineStyle: { width: one.role === "hybrid" ? 3 : 2, type: one.dashed ? "dashed" : ["solid", "solid", "dotted", "dashed"][i % 4] },
          markPoint: i === 0 ? marks(doc) : undefined,
        })),
      };
    },
    bar(doc) {
      return {
        ...base(doc),
        xAxis: axis(doc.x_label, { type: "category", data: doc.x.map(String) }),
        yAxis: valueAxis(doc.y_label),
        series: doc.series.map((one, i) => (one.dashed
          ? { type: "line", step: "middle", name: one.name, data: one.values, symbol: "none", lineStyle: { type: "dashed", width: 2 } }
          : { type: "bar", stack: "all", name: one.name, data: one.values, itemStyle: { decal: DECALS[i % DECALS.length] } })),
      };
    },
    hbar(doc) {
      return {
        ...base(doc),
        xAxis: valueAxis("", { name: doc.y_label, nameLocation: "middle", nameGap: 28 }),
        yAxis: axis("", { type: "category", data: doc.x.map(String), inverse: true }),
        series: doc.series.map((one, i) => ({ type: "bar", stack: "all", name: one.name, data: one.values, itemStyle: { decal: DECALS[i % DECALS.length] } })),
      };
    },
    tornado(doc) {
      const option = base(doc);
      const from = (values) => values.map((v) => v - doc.base);
      option.tooltip.valueFormatter = (v) => money(v + doc.base);
      return {
        ...option,
        xAxis: valueAxis("", { name: doc.y_label, nameLocation: "middle", nameGap: 28, axisLabel: { color: theme().text, formatter: (v) => short.format(v + doc.base) } }),
        yAxis: axis("", { type: "category", data: doc.x.map(String), inverse: true, axisLabel: { color: theme().text, width: Math.min(240, doc.width * 0.42), overflow: "break", fontSize: 11, lineHeight: 12 } }),
        series: doc.series.map((one, i) => ({ type: "bar", stack: "move" + i, barGap: "-100%", name: one.name, data: from(one.values), itemStyle: { decal: DECALS[i] } })),
      };
    },
    fan(doc) {
      const [low, middle, high] = doc.series.map((one) => one.values);
      const paint = theme();
      const option = base(doc);
      option.legend.show = false;
      option.tooltip.formatter = (rows) => { const i = rows[0].dataIndex; return `${doc.x[i]}\np10 ${money(low[i])}\np50 ${money(middle[i])}\np90 ${money(high[i])}`; };
      return {
        ...option,
        xAxis: valueAxis("", { name: doc.y_label, nameLocation: "middle", nameGap: 28, scale: true }),
        yAxis: axis("", { type: "category", data: doc.x.map(String), inverse: true }),
        series: [
          { type: "bar", stack: "span", name: "from", data: low, itemStyle: { color: "transparent" }, silent: true },
          { type: "bar", stack: "span", name: "p10 to p90", data: high.map((v, i) => v - low[i]), barWidth: 14, itemStyle: { color: paint.committed, opacity: 0.45 } },
          { type: "scatter", name: "p50", data: middle, symbol: "rect", symbolSize: [4, 22], itemStyle: { color: paint.demand } },
        ],
      };
    },
    points(doc) {
      return {
        ...base(doc),
        xAxis: axis(doc.x_label, { type: "time" }),
        yAxis: valueAxis(doc.y_label, { scale: true }),
        series: doc.series.map((one, i) => ({ type: "line", step: "end", name: one.name, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 7, connectNulls: true, data: one.values.map((v, k) => [doc.x[k], v]).filter((p) => p[1] !== null) })),
      };
    },
  };

  function draw(element) {
    const source = document.getElementById(element.dataset.chart);
    if (!source || !window.echarts) return;
    const doc = { ...JSON.parse(source.textContent), width: element.clientWidth };
    const old = window.echarts.getInstanceByDom(element);
    if (old) old.dispose();
    const chart = window.echarts.init(element, null, { renderer: "canvas" });
    chart.setOption(DRAW[doc.kind](doc));
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", `${doc.title} ${doc.summary}`);
  }
  const isDrawn = (element) => Boolean(window.echarts?.getInstanceByDom(element));
  const charts = () => [...document.querySelectorAll("[data-chart]")];

  /* A chart is drawn when it comes near the window, so that an edit far below stays quick. */
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      near.unobserve(entry.target);
      if (!isDrawn(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "300px" });
  const watch = () => charts().filter((one) => !isDrawn(one)).forEach((one) => near.observe(one));

  document.addEventListener("DOMContentLoaded", watch);
  document.addEventListener("htmx:afterSwap", watch);
  window.addEventListener("beforeprint", () => charts().forEach((one) => {
    if (!isDrawn(one)) draw(one);
    window.echarts?.getInstanceByDom(one)?.resize({ width: 640, height: 300 });
  }));
  window.addEventListener("afterprint", () => charts().forEach((one) => window.echarts?.getInstanceByDom(one)?.resize({ width: "auto", height: "auto" })));
  window.addEventListener("resize", () => document.querySelectorAll("[data-chart]").forEach((one) => {
    const chart = window.echarts && window.echarts.getInstanceByDom(one);
    if (chart) chart.resize();
  }));
})();
