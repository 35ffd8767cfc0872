/* The waterfall: a kind of chart of its own, drawn with the tools of charts.js, which is loaded after it. */
(() => {
  "use strict";

  /* Where each bar begins and ends: the first and the last stand on 0, a step where the one before it ended. */
  function spansOf(amounts) {
    let end = 0;
    return amounts.map((amount, i) => {
      const from = i === 0 || i === amounts.length - 1 ? 0 : end;
      end = from + amount;
      return [i, from, end, amount];
    });
  }

  function waterfallBar(count, { theme, short }) {
    const paint = theme();
    return (_, api) => {
      const [row, from, to, amount] = [0, 1, 2, 3].map((k) => api.value(k));
      const [start, y] = api.coord([from, row]), end = api.coord([to, row])[0];
      const isTotal = row === 0 || row === count - 1;
      const height = Math.min(28, api.size([0, 1])[1] * 0.6);
      const fill = isTotal ? paint.high : amount > 0 ? paint.more : paint.less;
      return {
        type: "group",
        children: [
          {
            type: "rect", style: { fill },
            shape: { x: Math.min(start, end), y: y - height / 2, width: Math.max(1, Math.abs(end - start)), height },
          },
          {
            type: "text", x: Math.max(start, end) + 6, y,
            style: {
              text: `${!isTotal && amount > 0 ? "+" : ""}${short.format(amount)}`, fill: paint.text,
              verticalAlign: "middle", font: "12px sans-serif",
            },
          },
        ],
      };
    };
  }

  function drawWaterfall(doc, tools) {
    const [{ name, values }] = doc.series;
    const option = tools.withoutLegend(tools.base(doc));
    option.grid.top = 12;
    option.tooltip.formatter = ([one]) => (
      `${doc.x[one.dataIndex]}\n${tools.money(values[one.dataIndex])} ${doc.y_label}`
    );
    return {
      ...option,
      xAxis: tools.valueAxisBelow(doc, { boundaryGap: ["0%", "15%"] }),
      yAxis: tools.rowAxis(doc, { axisLabel: tools.longNames(doc) }),
      series: [{
        type: "custom", name, data: spansOf(values), encode: { x: [1, 2], y: 0 },
        renderItem: waterfallBar(values.length, tools),
      }],
    };
  }

  window.chartKinds = { waterfall: drawWaterfall };
})();
