/* Colours of the charts by theme and by what a series stands for; of categories of cost those that stand beside
   each other differ in grey too. Symbols, patterns and dashes tell series apart without colours. */
(() => {
  "use strict";
  const PALETTE = {
    light: {
      owned: "#125741", committed: "#b0265e", capacity_block: "#083b4c", on_demand: "#d08000", spot: "#8a3ffc",
      capex: "#125741", commitment: "#b0265e", upfront: "#6b1138", compute: "#d08000", demand: "#17212b",
      advised: "#0b5cad", next_best: "#5b6770", rented: "#8a97a5", low: "#8a97a5", high: "#3d4852",
      storage: "#308191", egress: "#8243c0", install: "#3e92bb", network_storage: "#8d5e2f", power: "#3d2163",
      colocation: "#5d9732", support: "#c34a72", staff: "#1d3658", spares: "#c57852", insurance: "#236a47",
      loan: "#53236a", interest: "#978632", lease: "#a63737", credit: "#143c1b", shortfall: "#cc66bb",
      other: "#5d6976", residual: "#153f3c", tax: "#9d8282",
      more: "#9c2f1f", less: "#5f8fc4",
      text: "#3d4852", line: "#d5dae0", paper: "#ffffff",
    },
    dark: {
      owned: "#4cc79b", committed: "#e0608f", capacity_block: "#b5ecf5", on_demand: "#ffc266", spot: "#8a5cf0",
      capex: "#4cc79b", commitment: "#e0608f", upfront: "#ffe9f1", compute: "#ffc266", demand: "#f4f6f8",
      advised: "#6cb2f5", next_best: "#aab6c2", rented: "#7d8b99", low: "#7d8b99", high: "#d5dde5",
      storage: "#40a9bf", egress: "#a071d0", install: "#337798", network_storage: "#cc9865", power: "#ede6f7",
      colocation: "#568d2f", support: "#dc95ac", staff: "#d8e3f2", spares: "#b8663d", insurance: "#4ac386",
      loan: "#e9d7f2", interest: "#928131", lease: "#df9e9e", credit: "#c5eccb", shortfall: "#c44db0",
      other: "#99a4ae", residual: "#b3e6e2", tax: "#957979",
      more: "#ff9d8a", less: "#5f8fc4",
      text: "#c5ced8", line: "#3a4653", paper: "#182433",
    },
  };
  const REST = { /* Next to each other light and dark, so that they differ in grey. */
    light: [
      "#00778a", "#7a1030", "#8a7a2f", "#2b2f36", "#5f8f2f", "#a0522d", "#3a2a6a", "#c9668a", "#5b6770", "#4f8fd6",
    ],
    dark: [
      "#56b9c7", "#c75676", "#d6c683", "#e1e9f5", "#6ea537", "#e0b2a1", "#8e74d1", "#efcfda", "#6ea6cf", "#3f7abd",
    ],
  };
  const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
  const DECALS = [
    null, { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: 0.8 },
    { symbol: "circle", symbolSize: 0.6 }, { symbol: "rect", dashArrayX: [[8, 8], [0, 8, 8, 0]], dashArrayY: [6, 0] },
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -0.8 }, { symbol: "triangle", symbolSize: 0.7 },
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4] }, { symbol: "diamond", symbolSize: 0.4 },
  ];
  const DASHES = ["solid", "solid", "dotted", "dashed"];
  const shade = () => (document.documentElement.dataset.bsTheme === "dark" ? "dark" : "light");
  const theme = () => PALETTE[shade()];
  const colour = (role, i) => theme()[role] || REST[shade()][i % REST.light.length];
  window.chartPalette = { theme, colour, SYMBOLS, DECALS, DASHES };
})();

/* Names on charts: in a legend beneath the plot, at the ends of lines, beside marks. */
(() => {
  "use strict";
  const { colour } = window.chartPalette;

  /* A text in lines that fit the chart, and how high its legend is: every name stays in view. */
  const LETTER = 6.4;
  const linesOf = (doc, text, beside = 60) => {
    const most = Math.max(12, Math.floor((doc.width - beside) / LETTER));
    return (text.match(new RegExp(`.{1,${most}}(?=\\s|$)|.{1,${most}}`, "g")) ?? [""]).map((line) => line.trim());
  };
  const legendHeight = (doc) => doc.series.map((one) => linesOf(doc, one.name)).reduce((rows, lines) => {
    const wide = Math.max(...lines.map((line) => line.length)) * LETTER + 45, high = 14 * lines.length + 10;
    const row = rows.at(-1);
    if (!row || row.wide + wide > doc.width) return [...rows, { wide, high }];
    return [...rows.slice(0, -1), { wide: row.wide + wide, high: Math.max(row.high, high) }];
  }, []).reduce((sum, row) => sum + row.high, 0);

  /* A label near the end of the axis stands inside the chart. */
  function labelSide(doc, mark) {
    const first = doc.x[0], last = doc.x[doc.x.length - 1];
    const isNumeric = typeof mark.x === "number" && typeof last === "number";
    const share = isNumeric ? (mark.x - first) / (last - first) : doc.x.indexOf(mark.x) / (doc.x.length - 1);
    if (share > 0.75) return "left";
    return share < 0.1 ? "right" : "top";
  }

  const besideLines = (doc) => Math.min(170, doc.width * 0.28);

  /* Names at the ends of the lines; `partNames` moves them apart where they would meet. */
  const endLabel = (doc, one, i) => ({
    endLabel: {
      show: true, formatter: one.name, color: colour(one.role, i), width: besideLines(doc) - 12, overflow: "break",
      lineHeight: 14,
    },
  });
  const nameHeight = (doc, i) => 14 * Math.ceil(doc.series[i].name.length * LETTER / (besideLines(doc) - 12));
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
  window.chartNames = { linesOf, legendHeight, labelSide, besideLines, endLabel, partNames };
})();
