// Draws the chart of recall with uPlot, from the numbers that the page has; its table has them as well.
"use strict";

for (const place of document.querySelectorAll("[data-chart]")) {
  const { at, recall } = JSON.parse(place.dataset.chart);
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--quiet"),
    line = style.getPropertyValue("--line");
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const options = {
    width: place.clientWidth || 600,
    height: 180,
    cursor: { y: false },
    scales: { y: { range: [0, 1.02] } },
    axes: [axis, axis],
    series: [{}, { label: "recall", stroke: style.getPropertyValue("--blue"), width: 2, points: { show: true, size: 7 } }],
  };
  const plot = new uPlot(options, [at.map((one) => Date.parse(one) / 1000), recall], place);
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: 180 })).observe(place);
}
