// Line charts as SVG, small enough for a side panel.

import { el, short, svg } from "./dom.js";

const WIDTH = 340;
const HEIGHT = 150;
const MARGIN = { left: 44, right: 10, top: 8, bottom: 24 };

/**
 * @typedef {{name: string, class: string, points: import("./types.js").Point[]}} Series
 * @typedef {{title: string, x: string, y: string, series: Series[], log?: boolean, at?: number|null}} Chart
 */

/** A chart with axes, a legend if there is more than one series, and its numbers in words. @param {Chart} chart */
export function lineChart(chart) {
  const points = chart.series.flatMap((series) => series.points).filter((p) => !chart.log || p.y > 0);
  if (!points.length) return el("p", { class: "nothing" }, "Nothing to draw yet.");
  const scale = scales(points, Boolean(chart.log));
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": say(chart) },
    ...axes(chart, scale),
    chart.at !== null &&
      chart.at !== undefined &&
      svg("line", {
        class: "now",
        x1: scale.x(chart.at),
        x2: scale.x(chart.at),
        y1: MARGIN.top,
        y2: HEIGHT - MARGIN.bottom,
      }),
    ...chart.series.map((series) => drawSeries(series, scale, Boolean(chart.log))),
  );
  const legend =
    chart.series.length > 1 &&
    el(
      "p",
      { class: "legend" },
      ...chart.series.map((series) =>
        el("span", { class: series.class }, el("i", { "aria-hidden": "true" }, "━ "), `${series.name} `),
      ),
    );
  return el("figure", { class: "chart-box" }, el("figcaption", {}, chart.title), picture, legend);
}

/** @param {import("./types.js").Point[]} points @param {boolean} log */
function scales(points, log) {
  const low = Math.min(...points.map((p) => p.x));
  const high = Math.max(...points.map((p) => p.x), low + 1);
  const values = points.map((p) => (log ? Math.log10(p.y) : p.y));
  const bottom = log ? Math.floor(Math.min(...values)) : Math.min(0, ...values);
  const top = log ? Math.max(Math.ceil(Math.max(...values)), bottom + 1) : Math.max(...values, bottom + 1e-9, 1e-3);
  const wide = WIDTH - MARGIN.left - MARGIN.right;
  const tall = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    low,
    high,
    bottom,
    top,
    x: (/** @type {number} */ x) => MARGIN.left + ((x - low) / (high - low)) * wide,
    y: (/** @type {number} */ y) =>
      MARGIN.top + tall - (((log ? Math.log10(y) : y) - bottom) / (top - bottom)) * tall,
  };
}

/** @param {Chart} chart @param {ReturnType<typeof scales>} scale */
function axes(chart, scale) {
  const base = HEIGHT - MARGIN.bottom;
  const ticks = chart.log ? logTicks(scale) : [scale.bottom, (scale.bottom + scale.top) / 2, scale.top];
  return [
    ...ticks.flatMap((tick) => [
      svg("line", { class: "grid", x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: scale.y(tick), y2: scale.y(tick) }),
      svg("text", { class: "tick", x: MARGIN.left - 5, y: scale.y(tick) + 3, "text-anchor": "end" }, short(tick)),
    ]),
    svg("text", { class: "tick", x: MARGIN.left, y: base + 12 }, short(scale.low)),
    svg("text", { class: "tick", x: WIDTH - MARGIN.right, y: base + 12, "text-anchor": "end" }, short(scale.high)),
    svg("text", { class: "tick", x: (MARGIN.left + WIDTH) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, chart.x),
  ];
}

/** Powers of ten between the ends, at most six. @param {ReturnType<typeof scales>} scale */
function logTicks(scale) {
  const step = Math.max(1, Math.ceil((scale.top - scale.bottom) / 5));
  const ticks = [];
  for (let power = scale.bottom; power <= scale.top; power += step) ticks.push(10 ** power);
  return ticks;
}

/** @param {Series} series @param {ReturnType<typeof scales>} scale @param {boolean} log */
function drawSeries(series, scale, log) {
  const points = series.points.filter((p) => !log || p.y > 0);
  const path = points.map((p) => `${scale.x(p.x).toFixed(1)},${scale.y(p.y).toFixed(1)}`).join(" ");
  const dots = points.length <= 60 ? points : points.slice(-1);
  return svg(
    "g",
    { class: `series ${series.class}` },
    svg("polyline", { points: path }),
    ...dots.map((p) =>
      svg("circle", { cx: scale.x(p.x), cy: scale.y(p.y), r: 2.5 }, svg("title", {}, `${short(p.x)}: ${short(p.y)}`)),
    ),
  );
}

/** @param {Chart} chart */
function say(chart) {
  const parts = chart.series.map((series) => {
    const last = series.points[series.points.length - 1];
    return last ? `${series.name}: ${short(last.y)} at ${chart.x} ${short(last.x)}` : `${series.name}: nothing`;
  });
  return `${chart.title}. ${chart.y}. ${parts.join("; ")}.`;
}
