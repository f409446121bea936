// A training run: its curves.

import { byId, short, show } from "./dom.js";
import { lineChart } from "./chart.js";
import { figureBox, follow } from "./job.js";

follow((job) => {
  byId("title").textContent = `Train ${job.game}`;
  document.title = `${job.game} – Surmise`;
  const curves = Object.entries(job.curves ?? (job.curve ? { curve: job.curve } : {})).filter(
    ([, points]) => points.length,
  );
  show(
    byId("figures"),
    ...curves.map(([name, points]) =>
      figureBox(name, short(points[points.length - 1].y), `after ${short(points[points.length - 1].x)} games`),
    ),
  );
  show(
    byId("curve"),
    ...curves.map(([name, points], index) =>
      lineChart({
        title: name,
        x: "games",
        y: name,
        series: [{ name, class: `role${index % 8}`, points }],
      }),
    ),
  );
});
