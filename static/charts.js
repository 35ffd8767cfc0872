/* Draws the chart documents that pages carry beside their tables (planner/web/common/chart.py). */
(() => {
  "use strict";
  const { theme, colour, SYMBOLS, DECALS, DASHES } = window.chartPalette;
  const { linesOf, legendHeight, labelSide, besideLines, endLabel, partNames } = window.chartNames;
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  const full = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
  const money = (value) => (value === null || value === undefined ? "not known" : full.format(value));

  const [ABOVE, BELOW, LEAST_PLOT] = [32, 40, 210];
  const titleLines = (doc) => linesOf(doc, doc.y_label, 110);
  function base(doc) {
    const paint = theme();
    return {
      animation: false,
      textStyle: { color: paint.text, fontFamily: "inherit" },
      color: doc.series.map((one, i) => colour(one.role, i)),
      grid: {
        left: 12, right: 24, top: ABOVE + 14 * (titleLines(doc).length - 1), bottom: BELOW + legendHeight(doc),
        containLabel: true,
      },
      legend: {
        bottom: 0, textStyle: { color: paint.text, lineHeight: 14 },
        formatter: (name) => linesOf(doc, name).join("\n"),
      },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, valueFormatter: money },
      aria: { enabled: true, label: { description: doc.summary || doc.title } },
    };
  }
  function withoutLegend(option) {
    option.legend.show = false;
    option.grid.bottom = BELOW + 4;
    return option;
  }
  const axis = (name, more) => ({
    name, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: theme().text },
    axisLabel: { color: theme().text, hideOverlap: true }, axisLine: { lineStyle: { color: theme().line } },
    splitLine: { lineStyle: { color: theme().line } }, ...more,
  });
  const valueLabel = (unit, by = 0) => ({
    color: theme().text, hideOverlap: true, formatter: (v) => `${short.format(v + by)} ${unit || ""}`.trim(),
  });
  const valueAxis = (doc, more) => axis(titleLines(doc).join("\n"), {
    type: "value", axisLabel: valueLabel(doc.unit), nameLocation: "end", nameGap: 10,
    nameTextStyle: { color: theme().text, align: "left", lineHeight: 14 }, ...more,
  });
  const valueAxisBelow = (doc, more) => valueAxis(doc, { nameLocation: "middle", nameGap: 28, ...more });
  const categoryAxis = (doc, name, more) => axis(name, { type: "category", data: doc.x.map(String), ...more });
  const rowAxis = (doc, more) => categoryAxis(doc, "", { inverse: true, ...more });

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
      withoutLegend(option).grid.top = 44;
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
    line: drawLine, bar: drawBar, hbar: drawHorizontalBar, tornado: drawTornado, points: drawPoints,
  };
  const getInstance = (element) => window.echarts?.getInstanceByDom(element);

  /* A tall legend makes the chart taller, not the plot lower. */
  function heightOf(element, { grid, legend }, paper) {
    element.style.minHeight = "";
    const least = paper ? paper.height : parseFloat(getComputedStyle(element).minHeight);
    const height = Math.max(least, legend.show === false ? 0 : grid.top + LEAST_PLOT + grid.bottom);
    element.style.minHeight = `${height}px`;
    return height;
  }
  function read(element, width) {
    return { ...JSON.parse(document.getElementById(element.dataset.chart).textContent), width };
  }

  /* As wide as its place, or as paper. */
  const PAPER = { width: 640, height: 300 };
  function draw(element, paper) {
    if (!document.getElementById(element.dataset.chart) || !window.echarts) return;
    getInstance(element)?.dispose();
    const doc = read(element, paper ? paper.width : element.clientWidth);
    const option = DRAW[doc.kind](doc);
    const height = heightOf(element, option, paper);
    const size = paper && { width: paper.width, height };
    const chart = window.echarts.init(element, null, { renderer: "canvas", ...size });
    chart.setOption(option);
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
  /* Paper does not wait for the next frame. */
  window.addEventListener("beforeprint", () => charts().forEach((one) => {
    draw(one, PAPER);
    getInstance(one)?.getZr().flush();
  }));
  function redraw(element) {
    getInstance(element)?.dispose();
    near.observe(element);
  }
  window.addEventListener("afterprint", () => charts().forEach(redraw));
  window.addEventListener("resize", () => charts()
    .filter((one) => getInstance(one) && getInstance(one).getWidth() !== one.clientWidth).forEach(redraw));
})();
