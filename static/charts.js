/* Draws the chart documents that pages carry beside their tables (planner/web/common/chart.py). */
(() => {
  "use strict";
  const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
  const DECALS = [
    null, { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: 0.8 },
    { symbol: "circle", symbolSize: 0.6 }, { symbol: "rect", dashArrayX: [[8, 8], [0, 8, 8, 0]], dashArrayY: [6, 0] },
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -0.8 }, { symbol: "triangle", symbolSize: 0.7 },
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4] }, { symbol: "diamond", symbolSize: 0.4 },
  ];
  const DASHES = ["solid", "solid", "dotted", "dashed"];

  const { theme, colour } = window.chartPalette;
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  const full = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
  const money = (value) => (value === null || value === undefined ? "not known" : full.format(value));

  /* Lines that a legend takes, on paper too: every name stays in view. */
  const legendLines = (doc) => doc.series.reduce(([lines, taken], one) => {
    const wide = one.name.length * 6.4 + 45;
    return taken > 0 && taken + wide > Math.min(doc.width, 620) ? [lines + 1, wide] : [lines, taken + wide];
  }, [1, 0])[0];

  function base(doc) {
    const paint = theme();
    return {
      animation: false,
      textStyle: { color: paint.text, fontFamily: "inherit" },
      color: doc.series.map((one, i) => colour(one.role, i)),
      grid: { left: 12, right: 24, top: 24 + 20 * legendLines(doc), bottom: 40, containLabel: true },
      legend: { top: 0, textStyle: { color: paint.text } },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, valueFormatter: money },
      aria: { enabled: true, label: { description: doc.summary || doc.title } },
    };
  }
  const axis = (name, more) => ({
    name, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: theme().text },
    axisLabel: { color: theme().text, hideOverlap: true }, axisLine: { lineStyle: { color: theme().line } },
    splitLine: { lineStyle: { color: theme().line } }, ...more,
  });
  const valueLabel = (unit, by = 0) => ({
    color: theme().text, hideOverlap: true, formatter: (v) => `${short.format(v + by)} ${unit || ""}`.trim(),
  });
  const valueAxis = (doc, more) => axis(doc.y_label, {
    type: "value", axisLabel: valueLabel(doc.unit), nameLocation: "end", nameGap: 10,
    nameTextStyle: { color: theme().text, align: "left" }, ...more,
  });
  const valueAxisBelow = (doc, more) => valueAxis(doc, { nameLocation: "middle", nameGap: 28, ...more });
  const categoryAxis = (doc, name, more) => axis(name, { type: "category", data: doc.x.map(String), ...more });
  const rowAxis = (doc, more) => categoryAxis(doc, "", { inverse: true, ...more });

  /* A label near the end of the axis stands inside the chart. */
  function labelSide(doc, mark) {
    const first = doc.x[0], last = doc.x[doc.x.length - 1];
    const isNumeric = typeof mark.x === "number" && typeof last === "number";
    const share = isNumeric ? (mark.x - first) / (last - first) : doc.x.indexOf(mark.x) / (doc.x.length - 1);
    if (share > 0.75) return "left";
    return share < 0.1 ? "right" : "top";
  }

  function markPoints(doc) {
    if (!doc.marks.length) return undefined;
    const paint = theme();
    return {
      symbol: "circle", symbolSize: 10, itemStyle: { color: paint.demand },
      label: {
        formatter: (p) => p.name, position: "top", color: paint.text, backgroundColor: paint.paper, padding: 4,
        borderRadius: 3,
      },
      data: doc.marks.map((mark) => ({
        name: mark.label,
        label: { position: labelSide(doc, mark) },
        coord: [typeof mark.x === "number" ? mark.x : String(mark.x), mark.y],
      })),
    };
  }

  const lineStyle = (one, i) => ({
    width: { advised: 3, low: 1, high: 1 }[one.role] || 2, type: one.dashed && i < 2 ? "dashed" : DASHES[i % 4],
  });
  const besideLines = (doc) => Math.min(170, doc.width * 0.28);

  /* Names at the ends of the lines; `partNames` moves them apart where they would meet. */
  const endLabel = (doc, one, i) => ({
    endLabel: {
      show: true, formatter: one.name, color: colour(one.role, i), width: besideLines(doc) - 12, overflow: "break",
    },
  });
  const nameHeight = (doc, i) => 14 * Math.ceil(doc.series[i].name.length * 6.4 / (besideLines(doc) - 12));
  function partNames(chart, doc) {
    const last = doc.x.length - 1;
    const offset = doc.series.map(() => 0);
    let free = -Infinity;
    doc.series.map((one, i) => [i, one.values[last]])
      .filter(([, value]) => typeof value === "number")
      .map(([i, value]) => [i, chart.convertToPixel({ yAxisIndex: 0 }, value)])
      .sort((one, other) => one[1] - other[1])
      .forEach(([i, y]) => {
        const top = Math.max(y - nameHeight(doc, i) / 2, free);
        offset[i] = top + nameHeight(doc, i) / 2 - y;
        free = top + nameHeight(doc, i);
      });
    chart.setOption({ series: offset.map((down) => ({ endLabel: { offset: [0, down] } })) });
  }
  const bar = (one, i, more) => ({
    type: "bar", stack: "all", name: one.name, data: one.values,
    itemStyle: { decal: DECALS[i % DECALS.length] }, ...more,
  });
  const dashedStep = (one) => ({
    type: "line", step: "middle", name: one.name, data: one.values, symbol: "none",
    lineStyle: { type: "dashed", width: 2 },
  });

  function drawLine(doc) {
    const isNumeric = doc.x.length > 0 && doc.x.every((v) => typeof v === "number");
    const option = base(doc);
    if (doc.labels_at_lines) {
      option.legend.show = false;
      option.grid.top = 44;
      option.grid.right = besideLines(doc);
    }
    return {
      ...option,
      xAxis: isNumeric
        ? axis(doc.x_label, { type: "value", min: Math.min(...doc.x), max: Math.max(...doc.x) })
        : categoryAxis(doc, doc.x_label, { boundaryGap: false }),
      yAxis: valueAxis(doc),
      series: doc.series.map((one, i) => ({
        type: "line", name: one.name, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 5,
        showSymbol: doc.x.length < (doc.labels_at_lines ? 13 : 40),
        data: one.values.map((v, k) => (isNumeric ? [doc.x[k], v] : v)),
        lineStyle: lineStyle(one, i),
        markPoint: i === 0 ? markPoints(doc) : undefined,
        ...(doc.labels_at_lines ? endLabel(doc, one, i) : {}),
      })),
    };
  }

  function drawBar(doc) {
    return {
      ...base(doc),
      xAxis: categoryAxis(doc, doc.x_label),
      yAxis: valueAxis(doc),
      series: doc.series.map((one, i) => (one.dashed ? dashedStep(one) : bar(one, i))),
    };
  }

  function drawHorizontalBar(doc) {
    const series = doc.series.map((one, i) => bar(one, i));
    return { ...base(doc), xAxis: valueAxisBelow(doc), yAxis: rowAxis(doc), series };
  }

  const longNames = (doc) => ({
    color: theme().text, width: Math.min(240, doc.width * 0.42), overflow: "break", fontSize: 11, lineHeight: 12,
  });
  function drawTornado(doc) {
    const option = base(doc);
    option.tooltip.valueFormatter = (v) => money(v + doc.base);
    return {
      ...option,
      xAxis: valueAxisBelow(doc, { axisLabel: valueLabel(doc.unit, doc.base) }),
      yAxis: rowAxis(doc, { axisLabel: longNames(doc) }),
      series: doc.series.map((one, i) => bar(one, i, {
        stack: `move${i}`, barGap: "-100%", data: one.values.map((v) => v - doc.base),
      })),
    };
  }

  function drawFan(doc) {
    const [low, middle, high] = doc.series.map((one) => one.values);
    const paint = theme();
    const option = base(doc);
    option.legend.show = false;
    option.tooltip.formatter = (rows) => {
      const i = rows[0].dataIndex;
      return `${doc.x[i]}\np10 ${money(low[i])}\np50 ${money(middle[i])}\np90 ${money(high[i])}`;
    };
    const span = { type: "bar", stack: "span" };
    return {
      ...option,
      xAxis: valueAxisBelow(doc, { scale: true }),
      yAxis: rowAxis(doc),
      series: [
        { ...span, name: "from", data: low, itemStyle: { color: "transparent" }, silent: true },
        {
          ...span, name: "p10 to p90", data: high.map((v, i) => v - low[i]), barWidth: 14,
          itemStyle: { color: paint.rented },
        },
        {
          type: "scatter", name: "p50", data: middle, symbol: "rect", symbolSize: [4, 22],
          itemStyle: { color: paint.demand },
        },
      ],
    };
  }

  function drawPoints(doc) {
    return {
      ...base(doc),
      xAxis: axis(doc.x_label, { type: "time" }),
      yAxis: valueAxis(doc),
      series: doc.series.map((one, i) => ({
        type: "line", step: "end", name: one.name, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 7,
        connectNulls: true, data: one.values.map((v, k) => [doc.x[k], v]).filter((p) => p[1] !== null),
      })),
    };
  }

  const DRAW = {
    line: drawLine, bar: drawBar, hbar: drawHorizontalBar, tornado: drawTornado, fan: drawFan, points: drawPoints,
  };
  const TOOLS = { base, theme, short, money, valueAxisBelow, rowAxis, longNames };
  const getInstance = (element) => window.echarts?.getInstanceByDom(element);

  function draw(element) {
    const source = document.getElementById(element.dataset.chart);
    if (!source || !window.echarts) return;
    const doc = { ...JSON.parse(source.textContent), width: element.clientWidth };
    getInstance(element)?.dispose();
    const chart = window.echarts.init(element, null, { renderer: "canvas" });
    chart.setOption({ ...DRAW, ...window.chartKinds }[doc.kind](doc, TOOLS));
    if (doc.labels_at_lines) partNames(chart, doc);
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", `${doc.title} ${doc.summary}`);
  }
  const charts = () => [...document.querySelectorAll("[data-chart]")];

  /* A chart is drawn when it comes near the window, so that an edit far below stays quick. */
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      near.unobserve(entry.target);
      if (!getInstance(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "300px" });
  const watch = () => charts().filter((one) => !getInstance(one)).forEach((one) => near.observe(one));

  document.addEventListener("DOMContentLoaded", watch);
  document.addEventListener("htmx:afterSwap", watch);
  document.addEventListener("htmx:oobAfterSwap", watch);
  window.addEventListener("beforeprint", () => charts().forEach((one) => {
    if (!getInstance(one)) draw(one);
    getInstance(one)?.resize({ width: 640, height: 300 });
    getInstance(one)?.getZr().flush(); /* Paper does not wait for the next frame. */
  }));
  const fit = (one) => getInstance(one)?.resize({ width: "auto", height: "auto" });
  window.addEventListener("afterprint", () => charts().forEach(fit));
  window.addEventListener("resize", () => charts().forEach((one) => getInstance(one)?.resize()));
})();
