// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of a sweep from the data in it: a small chart for each metric, and the table of points.
(() => {
  "use strict";
  const { headlines, sweep } = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  // Colours that colour-blind people can tell apart (Okabe and Ito, 2008); dashes tell them apart without colours.
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#a6761d"];
  const dashes = ["", "6 3", "2 2", "8 3 2 3"];
  const scales = {
    ps: [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]],
    B: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]],
    "B/s": [[1e9, "GB/s"]],
  };
  const scaleOf = (unit, largest) => {
    const list = scales[unit] || [[1, unit === "1" ? "" : unit]];
    return list.find(([size]) => largest >= size) || list[list.length - 1];
  };
  const element = (name, text) => {
    const made = document.createElement(name);
    made.textContent = text ?? "";
    return made;
  };
  const axes = sweep.points.length > 0 ? Object.keys(sweep.points[0].sets) : [];
  const values = (axis) => [...new Set(sweep.points.map((point) => point.sets[axis] ?? "–"))];
  const bounds = (range) => range.interval_low === null ? [range.lowest, range.highest] : [range.interval_low, range.interval_high];

  // All runs of a metric as lines: policy and the values of the keys other than the one along the chart.
  const linesOf = (metric, along) => {
    const lines = new Map();
    for (const point of sweep.points) {
      for (const policy of point.policies) {
        const range = policy.metrics[metric];
        const others = axes.filter((axis) => axis !== along && values(axis).length > 1).map((axis) => `${axis}=${point.sets[axis] ?? "–"}`);
        const name = [policy.policy, ...others].join(", ");
        if (range) {
          lines.set(name, [...(lines.get(name) || []), { x: point.sets[along] ?? "–", range }]);
        }
      }
    }
    return lines;
  };

  const drawChart = (headline, along, names) => {
    const width = 340, height = 210, left = 48, bottom = 34, top = 8, right = 8;
    const lines = linesOf(headline.name, along);
    const all = [...lines.values()].flat();
    const largest = d3.max(all, ({ range }) => bounds(range)[1]) || 1;
    const [size, unit] = scaleOf(sweep.units[headline.name], largest);
    const x = d3.scalePoint().domain(values(along)).range([left, width - right]).padding(0.3);
    const y = d3.scaleLinear().domain([0, largest / size]).range([height - bottom, top]).nice();
    const figure = document.createElement("figure");
    const caption = element("figcaption", headline.title);
    caption.append(element("small", unit ? `, ${unit}` : ""));
    figure.append(caption);
    const svg = d3.select(figure).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
      .attr("aria-label", `${headline.title} along ${along}`);
    svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5));
    svg.append("text").attr("class", "soft").attr("x", width - right).attr("y", height - 2).attr("text-anchor", "end").text(along);
    for (const [name, marks] of lines) {
      const index = names.indexOf(name), colour = colours[index % colours.length];
      const group = svg.append("g").attr("stroke", colour).attr("fill", "none");
      group.append("title").text(name);
      group.append("path").attr("stroke-width", 1.5).attr("stroke-dasharray", dashes[Math.floor(index / colours.length) % dashes.length])
        .attr("d", d3.line().x((mark) => x(mark.x)).y((mark) => y(mark.range.mean / size))(marks));
      for (const mark of marks) {
        const [low, high] = bounds(mark.range);
        group.append("line").attr("x1", x(mark.x)).attr("x2", x(mark.x)).attr("y1", y(low / size)).attr("y2", y(high / size));
        group.append("circle").attr("cx", x(mark.x)).attr("cy", y(mark.range.mean / size)).attr("r", 2.5).attr("fill", colour)
          .append("title").text(`${name}\n${along}=${mark.x}: ${(mark.range.mean / size).toPrecision(4)} ${unit} (${(low / size).toPrecision(4)}–${(high / size).toPrecision(4)})`);
      }
    }
    return figure;
  };

  const drawCharts = () => {
    const along = byId("axis").value;
    const names = [...new Set(headlines.flatMap((headline) => [...linesOf(headline.name, along).keys()]))];
    byId("legend").replaceChildren(...names.map((name, index) => {
      const label = element("span", name), swatch = element("span");
      swatch.className = "swatch";
      swatch.style.background = colours[index % colours.length];
      label.prepend(swatch);
      return label;
    }));
    byId("charts").replaceChildren(...headlines.map((headline) => drawChart(headline, along, names)));
  };

  const drawTable = () => {
    const head = element("tr");
    head.append(...["point", ...axes, "policy", ...headlines.map((headline) => headline.title)].map((text) => element("th", text)));
    const rows = [head];
    for (const point of sweep.points) {
      for (const policy of point.policies.length > 0 ? point.policies : [null]) {
        const row = element("tr");
        row.append(element("td", point.point), ...axes.map((axis) => element("td", point.sets[axis] ?? "–")));
        row.append(element("td", policy ? policy.policy : `${point.outcome}: ${point.error ?? ""}`));
        for (const headline of policy ? headlines : []) {
          const range = policy.metrics[headline.name];
          const [size, unit] = scaleOf(sweep.units[headline.name], range ? range.mean : 1);
          row.append(element("td", range ? `${(range.mean / size).toPrecision(3)} ${unit}` : "–"));
        }
        rows.push(row);
      }
    }
    byId("table").replaceChildren(...rows);
  };

  const done = sweep.points.filter((point) => point.outcome === "done").length;
  byId("title").textContent = sweep.title;
  byId("subtitle").textContent = `${done} of ${sweep.points.length} points done`;
  byId("axis").replaceChildren(...axes.map((axis) => element("option", axis)));
  byId("axis").value = axes.reduce((best, axis) => values(axis).length > values(best).length ? axis : best, axes[0]);
  byId("axis").addEventListener("change", drawCharts);
  drawCharts();
  drawTable();
})();
