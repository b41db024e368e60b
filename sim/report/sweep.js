// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of a sweep from the data in it: a small chart for each metric, and the table of points.
(() => {
  "use strict";
  const { data: { headlines, sweep }, byId, colours, dashes, colour, scaleOf, element, fillTable, legendItem, widthOf, drawing, onNewWidth } = page;
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
    const figure = element("figure");
    const caption = element("figcaption", headline.title);
    caption.append(element("small", unit ? `, ${unit}` : ""));
    figure.append(caption);
    const svg = drawing(figure, width, height, `${headline.title} along ${along}`);
    svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5));
    svg.append("text").attr("class", "soft").attr("x", width - right).attr("y", height - 2).attr("text-anchor", "end").text(along);
    for (const [name, marks] of lines) {
      const index = names.indexOf(name);
      const group = svg.append("g").attr("stroke", colour(index)).attr("fill", "none");
      group.append("title").text(name);
      group.append("path").attr("stroke-width", 1.5).attr("stroke-dasharray", dashes[Math.floor(index / colours.length) % dashes.length])
        .attr("d", d3.line().x((mark) => x(mark.x)).y((mark) => y(mark.range.mean / size))(marks));
      for (const mark of marks) {
        const [low, high] = bounds(mark.range);
        group.append("line").attr("x1", x(mark.x)).attr("x2", x(mark.x)).attr("y1", y(low / size)).attr("y2", y(high / size));
        group.append("circle").attr("cx", x(mark.x)).attr("cy", y(mark.range.mean / size)).attr("r", 2.5).attr("fill", colour(index))
          .append("title").text(`${name}\n${along}=${mark.x}: ${(mark.range.mean / size).toPrecision(4)} ${unit} (${(low / size).toPrecision(4)}–${(high / size).toPrecision(4)})`);
      }
    }
    return figure;
  };

  const drawCharts = () => {
    const along = byId("axis").value;
    const names = [...new Set(headlines.flatMap((headline) => [...linesOf(headline.name, along).keys()]))];
    byId("legend").replaceChildren(...names.map(legendItem));
    byId("charts").replaceChildren(...headlines.map((headline) => drawChart(headline, along, names)));
  };

  // One mark for each policy of each point, with the mean of every metric that it has.
  const marks = sweep.points.flatMap((point) => point.policies.map((policy) => ({
    point, policy, fluid: policy.policy.endsWith("(fluid)"),
    name: [`point ${point.point}`, policy.policy, ...axes.filter((axis) => values(axis).length > 1).map((axis) => `${axis}=${point.sets[axis] ?? "–"}`)].join(", "),
    value: (metric) => policy.metrics[metric]?.mean,
  })));
  // More is better of rates and of shares of what is possible; of all else less.
  const isHigherBetter = (metric) => ["B/s", "tokens/s"].includes(sweep.units[metric]) || /(^|\/)(goodput|ideal_share)$/.test(metric);
  const isAsGood = (metric, one, other) => isHigherBetter(metric) ? one >= other : one <= other;
  // Those that no other one is as good as in both and better in one.
  const frontOf = (some, x, y) => some.filter((mark) => !some.some((other) => isAsGood(x, other.value(x), mark.value(x))
    && isAsGood(y, other.value(y), mark.value(y)) && (other.value(x) !== mark.value(x) || other.value(y) !== mark.value(y))));
  const shown = (metric) => marks.filter((mark) => mark.value(metric) !== undefined);
  const told = (metric, value) => {
    const [size, unit] = scaleOf(sweep.units[metric], Math.abs(value));
    return `${(value / size).toPrecision(4)} ${unit}`;
  };

  const drawPareto = () => {
    const x = byId("pareto-x").value, y = byId("pareto-y").value;
    const node = byId("pareto"), width = Math.min(720, widthOf(node)), height = 380, left = 64, bottom = 44, top = 26, right = 16;
    const some = shown(x).filter((mark) => mark.value(y) !== undefined);
    const front = frontOf(some, x, y).sort((one, other) => one.value(x) - other.value(x));
    const scaleFor = (metric) => scaleOf(sweep.units[metric], d3.max(some, (mark) => mark.value(metric)) || 1);
    const [sizeX, unitX] = scaleFor(x), [sizeY, unitY] = scaleFor(y);
    const at = (metric, size, range) => d3.scaleLinear().domain(d3.extent(some, (mark) => mark.value(metric) / size)).nice().range(range);
    const along = at(x, sizeX, [left, width - right]), up = at(y, sizeY, [height - bottom, top]);
    const title = (metric) => headlines.find((headline) => headline.name === metric).title;
    node.replaceChildren();
    const svg = drawing(node, width, height, `${title(y)} against ${title(x)}: ${some.length} results, ${front.length} on the Pareto front`);
    svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(along).ticks(Math.max(2, Math.floor(width / 90))));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(up));
    svg.append("text").attr("class", "soft").attr("x", width - right).attr("y", height - 6).attr("text-anchor", "end").text(`${title(x)}${unitX ? `, ${unitX}` : ""}`);
    svg.append("text").attr("class", "soft").attr("x", 4).attr("y", 14).text(`${title(y)}${unitY ? `, ${unitY}` : ""}`);
    svg.append("path").attr("class", "front").attr("fill", "none").attr("stroke", colour(1)).attr("stroke-width", 1.5)
      .attr("d", d3.line().x((mark) => along(mark.value(x) / sizeX)).y((mark) => up(mark.value(y) / sizeY)).curve(isHigherBetter(x) ? d3.curveStepBefore : d3.curveStepAfter)(front));
    for (const mark of some) {
      const isFront = front.includes(mark), paint = colour(isFront ? 1 : 0);
      svg.append("circle").attr("class", isFront ? "on-front" : "beaten").attr("cx", along(mark.value(x) / sizeX)).attr("cy", up(mark.value(y) / sizeY))
        .attr("r", isFront ? 5 : 3.5).attr("stroke", paint).attr("fill", mark.fluid ? "none" : paint)
        .append("title").text(`${mark.name}\n${title(x)} ${told(x, mark.value(x))}\n${title(y)} ${told(y, mark.value(y))}`);
    }
    drawParallel(front);
  };

  // Every result as a line through what it sets and what came of it; those of the front above are drawn last and in colour.
  const drawParallel = (front) => {
    const keys = [...axes.filter((axis) => values(axis).length > 1).map((name) => ({ name, title: name.split(".").pop(), set: true })),
      ...headlines.filter(({ name }) => new Set(shown(name).map((mark) => mark.value(name))).size > 1)];
    const node = byId("parallel"), width = Math.max(720, 150 * keys.length), height = 320, top = 44, bottom = 16, side = 75;
    const place = d3.scalePoint().domain(keys.map(({ name }) => name)).range([side, width - side]);
    const ways = new Map(keys.map(({ name, set }) => [name, set
      ? d3.scalePoint().domain(values(name)).range([height - bottom, top]).padding(0.2)
      : d3.scaleLinear().domain(d3.extent(shown(name), (mark) => mark.value(name))).range([height - bottom, top])]));
    const spot = (mark, { name, set }) => set ? ways.get(name)(mark.point.sets[name] ?? "–") : mark.value(name) === undefined ? undefined : ways.get(name)(mark.value(name));
    node.replaceChildren();
    const svg = drawing(node, width, height, "parallel coordinates of all results").style("max-width", "none"); // what is wider than the page is scrolled
    const ordered = [...marks.filter((mark) => !front.includes(mark)), ...front];
    for (const mark of ordered) {
      const isFront = front.includes(mark);
      svg.append("path").attr("class", isFront ? "on-front" : "beaten").attr("fill", "none").attr("stroke", colour(isFront ? 1 : 6))
        .attr("stroke-opacity", isFront ? 1 : 0.35).attr("stroke-width", isFront ? 2 : 1)
        .attr("d", d3.line().defined((key) => spot(mark, key) !== undefined).x(({ name }) => place(name)).y((key) => spot(mark, key))(keys))
        .append("title").text(mark.name);
    }
    for (const { name, title, set } of keys) {
      const [size, unit] = set ? [1, ""] : scaleOf(sweep.units[name], d3.max(shown(name), (mark) => mark.value(name)) || 1);
      const axis = set ? d3.axisLeft(ways.get(name)) : d3.axisLeft(ways.get(name)).ticks(5).tickFormat((value) => `${+(value / size).toPrecision(3)}`);
      const group = svg.append("g").attr("transform", `translate(${place(name)},0)`).call(axis);
      group.append("text").attr("class", "axis-title").attr("y", 16).attr("text-anchor", "middle").attr("fill", "currentColor").text(title);
      group.append("text").attr("y", 30).attr("text-anchor", "middle").attr("fill", "currentColor").text(unit);
    }
  };

  // Which two metrics stand against each other at first: what a design costs or draws, and what it is to reach.
  const first = (names, but) => names.find((name) => name !== but && headlines.some((headline) => headline.name === name))
    ?? headlines.find(({ name }) => name !== but)?.name;
  const startTrade = () => {
    const x = first(["cost", "power", "network_power", "worst_queue"]), y = first(["step_time", "time_to_train", "tokens_per_s", "tokens_per_s_gpu", "all_to_all.p99", "rank_time.max"], x);
    if (marks.length === 0 || y === undefined) {
      byId("trade").remove();
      return;
    }
    for (const [id, name] of [["pareto-x", x], ["pareto-y", y]]) {
      byId(id).replaceChildren(...headlines.map((headline) => Object.assign(element("option", headline.title), { value: headline.name })));
      byId(id).value = name;
      byId(id).addEventListener("change", drawPareto);
    }
    onNewWidth(drawPareto);
    drawPareto();
  };

  const drawTable = () => {
    const told = (policy) => headlines.map(({ name }) => {
      const range = policy.metrics[name], [size, unit] = scaleOf(sweep.units[name], range ? range.mean : 1);
      return range ? `${(range.mean / size).toPrecision(3)} ${unit}` : "–";
    });
    fillTable(byId("table"), ["point", ...axes, "policy", ...headlines.map(({ title }) => title)], sweep.points.flatMap((point) => {
      const first = [point.point, ...axes.map((axis) => point.sets[axis] ?? "–")];
      return point.policies.length > 0 ? point.policies.map((policy) => [...first, policy.policy, ...told(policy)]) : [[...first, `${point.outcome}: ${point.error ?? ""}`]];
    }));
  };

  const done = sweep.points.filter((point) => point.outcome === "done").length;
  byId("title").textContent = sweep.title;
  byId("subtitle").textContent = `${done} of ${sweep.points.length} points done`;
  byId("axis").replaceChildren(...axes.map((axis) => element("option", axis)));
  byId("axis").value = axes.reduce((best, axis) => values(axis).length > values(best).length ? axis : best, axes[0]);
  byId("axis").addEventListener("change", drawCharts);
  drawCharts();
  startTrade();
  drawTable();
})();
