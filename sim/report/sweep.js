// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of a sweep from the data in it: a small chart for each metric, and the table of points.
(() => {
  "use strict";
  const { data: { headlines, sweep }, byId, COLOURS, dashes, colour, scaleOf, unitOf, digits, element, fillTable, dashItem, widthOf, drawing, nameAxis, onNewWidth, withTip } = page;
  const axes = sweep.points.length > 0 ? Object.keys(sweep.points[0].sets) : [];
  const values = (axis) => [...new Set(sweep.points.map((point) => point.sets[axis] ?? "–"))];
  const scaleFor = (metric, largest) => scaleOf(unitOf(metric, sweep.units[metric]), largest);
  // The last part of a key, where it names one key only.
  const shortName = (axis) => { const last = axis.split(".").pop(); return axes.filter((other) => other.split(".").pop() === last).length > 1 ? axis : last; };
  // A policy's name tells its own key.
  const isTold = (axis, point, policy) => axis === "policies" && policy.policy.startsWith(point.sets[axis]);
  const othersOf = (point, policy, along) => axes.filter((axis) => axis !== along && values(axis).length > 1 && !isTold(axis, point, policy))
    .map((axis) => `${shortName(axis)} ${point.sets[axis] ?? "–"}`);
  const bounds = (range) => range.interval_low === null ? [range.lowest, range.highest] : [range.interval_low, range.interval_high];

  // All runs of a metric as lines: policy and the values of the keys other than the one along the chart.
  const linesOf = (metric, along) => {
    const lines = new Map();
    for (const point of sweep.points) {
      for (const policy of point.policies) {
        const range = policy.metrics[metric];
        const name = [policy.policy, ...othersOf(point, policy, along)].join(", ");
        if (range) {
          lines.set(name, [...(lines.get(name) || []), { x: point.sets[along] ?? "–", range }]);
        }
      }
    }
    const place = new Map(values(along).map((value, i) => [value, i]));
    lines.forEach((marks) => marks.sort((one, other) => place.get(one.x) - place.get(other.x)));
    return lines;
  };
  // As many values of an axis as have room.
  const withRoom = (list, width) => list.filter((value, i) => i % Math.ceil(list.length * (7 * d3.max(list, (text) => String(text).length) + 10) / width) === 0);
  const dashOf = (index) => dashes[Math.floor(index / COLOURS) % dashes.length];

  const drawChart = (headline, along, names, width) => {
    const height = 214, left = 48, bottom = 38, top = 8, right = 8;
    const lines = linesOf(headline.name, along);
    const all = [...lines.values()].flat();
    const largest = d3.max(all, ({ range }) => bounds(range)[1]) || 1;
    const [size, unit] = scaleFor(headline.name, largest);
    const x = d3.scalePoint().domain(values(along)).range([left, width - right]).padding(0.3);
    const y = d3.scaleLinear().domain([0, largest / size]).range([height - bottom, top]).nice();
    const figure = element("figure");
    const caption = element("figcaption", headline.title);
    caption.append(element("small", unit ? `, ${unit}` : ""));
    figure.append(caption);
    const svg = drawing(figure, width, height, `${headline.title} along ${along}`);
    svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).tickValues(withRoom(values(along), width - left - right)));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5));
    nameAxis(svg, width - right, height - 4, along);
    for (const [name, marks] of lines) {
      const index = names.indexOf(name);
      const group = svg.append("g").attr("stroke", colour(index)).attr("fill", "none");
      withTip(group.append("path").attr("stroke-width", 1.5).attr("stroke-dasharray", dashOf(index))
        .attr("d", d3.line().x((mark) => x(mark.x)).y((mark) => y(mark.range.mean / size))(marks)), () => name);
      for (const mark of marks) {
        const [low, high] = bounds(mark.range);
        group.append("line").attr("x1", x(mark.x)).attr("x2", x(mark.x)).attr("y1", y(low / size)).attr("y2", y(high / size));
        withTip(group.append("circle").attr("cx", x(mark.x)).attr("cy", y(mark.range.mean / size)).attr("r", 2.5).attr("fill", colour(index)),
          () => `${name}\n${along} ${mark.x}: ${digits(mark.range.mean / size)} ${unit} (${digits(low / size)}–${digits(high / size)})`);
      }
    }
    return figure;
  };

  const drawCharts = () => {
    const along = byId("axis").value;
    const names = [...new Set(headlines.flatMap((headline) => [...linesOf(headline.name, along).keys()]))];
    const isNothing = ({ name }) => sweep.points.every((point) => point.policies.every((policy) => (policy.metrics[name]?.highest ?? 0) === 0));
    const some = headlines.filter((headline) => !isNothing(headline)), nothing = headlines.filter(isNothing);
    const room = byId("charts").getBoundingClientRect().width || 340, columns = Math.max(1, Math.floor((room + 16) / 356));
    byId("legend").replaceChildren(...names.map((name, i) => dashItem(name, i, dashOf(i))));
    byId("charts").replaceChildren(...some.map((headline) => drawChart(headline, along, names, Math.floor((room - 16 * (columns - 1)) / columns))));
    byId("nothing").textContent = nothing.length > 0 ? `0 everywhere: ${nothing.map(({ title }) => title).join("; ")}.` : "";
  };

  // One mark for each policy of each point, with the mean of every metric that it has.
  const marks = sweep.points.flatMap((point) => point.policies.map((policy) => ({
    point, policy, fluid: policy.policy.endsWith("(fluid)"),
    name: [`point ${point.point}`, policy.policy, ...othersOf(point, policy)].join(", "),
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
    const [size, unit] = scaleFor(metric, Math.abs(value));
    return `${digits(value / size)} ${unit}`;
  };

  const drawPareto = () => {
    const x = byId("pareto-x").value, y = byId("pareto-y").value;
    const node = byId("pareto"), width = Math.min(720, widthOf(node)), height = 380, left = 64, bottom = 44, top = 26, right = 16;
    const some = shown(x).filter((mark) => mark.value(y) !== undefined);
    const front = frontOf(some, x, y).sort((one, other) => one.value(x) - other.value(x));
    const largest = (metric) => d3.max(some, (mark) => mark.value(metric)) || 0;
    const [sizeX, unitX] = scaleFor(x, largest(x)), [sizeY, unitY] = scaleFor(y, largest(y));
    const at = (metric, size, range) => d3.scaleLinear().domain(d3.extent(some, (mark) => mark.value(metric) / size)).nice().range(range);
    const along = at(x, sizeX, [left, width - right]), up = at(y, sizeY, [height - bottom, top]);
    const title = (metric) => headlines.find((headline) => headline.name === metric).title;
    node.replaceChildren();
    const svg = drawing(node, width, height, `${title(y)} against ${title(x)}: ${some.length} results, ${front.length} on the Pareto front`);
    svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(along).ticks(Math.max(2, Math.floor(width / 90))));
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(up));
    nameAxis(svg, width - right, height - 6, `${title(x)}${unitX ? `, ${unitX}` : ""}`);
    nameAxis(svg, 4, 14, `${title(y)}${unitY ? `, ${unitY}` : ""}`, "start");
    svg.append("path").attr("class", "front").attr("fill", "none").attr("stroke", colour(1)).attr("stroke-width", 1.5)
      .attr("d", d3.line().x((mark) => along(mark.value(x) / sizeX)).y((mark) => up(mark.value(y) / sizeY)).curve(isHigherBetter(x) ? d3.curveStepBefore : d3.curveStepAfter)(front));
    for (const mark of some) {
      const isFront = front.includes(mark), paint = colour(isFront ? 1 : 0);
      withTip(svg.append("circle").attr("class", isFront ? "on-front" : "beaten").attr("cx", along(mark.value(x) / sizeX)).attr("cy", up(mark.value(y) / sizeY))
        .attr("r", isFront ? 5 : 3.5).attr("stroke", paint).attr("fill", mark.fluid ? "var(--paper)" : paint),
      () => `${mark.name}\n${title(x)} ${told(x, mark.value(x))}\n${title(y)} ${told(y, mark.value(y))}`);
    }
    drawParallel(front);
  };

  // Every result as a line through what it sets and what came of it; those of the front above are drawn last and in colour.
  const drawParallel = (front) => {
    const keys = [...axes.filter((axis) => values(axis).length > 1).map((name) => ({ name, title: shortName(name), set: true })),
      ...headlines.filter(({ name }) => new Set(shown(name).map((mark) => mark.value(name))).size > 1)];
    const node = byId("parallel"), width = Math.max(widthOf(node), 130 * keys.length), height = 320, top = 44, bottom = 16, side = 75;
    const place = d3.scalePoint().domain(keys.map(({ name }) => name)).range([side, width - side]);
    const ways = new Map(keys.map(({ name, set }) => [name, set
      ? d3.scalePoint().domain(values(name)).range([height - bottom, top]).padding(0.2)
      : d3.scaleLinear().domain(d3.extent(shown(name), (mark) => mark.value(name))).range([height - bottom, top])]));
    const spot = (mark, { name, set }) => set ? ways.get(name)(mark.point.sets[name] ?? "–") : mark.value(name) === undefined ? undefined : ways.get(name)(mark.value(name));
    node.replaceChildren();
    const svg = drawing(node, width, height, `Every result as a line through ${keys.map(({ title }) => title).join(", ")}`).style("max-width", "none"); // what is wider than the page is scrolled
    const ordered = [...marks.filter((mark) => !front.includes(mark)), ...front];
    for (const mark of ordered) {
      const isFront = front.includes(mark);
      svg.append("path").attr("class", isFront ? "on-front" : "beaten").attr("fill", "none").attr("stroke", colour(isFront ? 1 : 6))
        .attr("stroke-opacity", isFront ? 1 : 0.35).attr("stroke-width", isFront ? 2 : 1)
        .attr("d", d3.line().defined((key) => spot(mark, key) !== undefined).x(({ name }) => place(name)).y((key) => spot(mark, key))(keys));
    }
    withTip(svg.selectAll("path.on-front, path.beaten").data(ordered), (mark) => mark.name);
    for (const { name, title, set } of keys) {
      const [size, unit] = set ? [1, ""] : scaleFor(name, d3.max(shown(name), (mark) => mark.value(name)) || 0);
      const axis = set ? d3.axisLeft(ways.get(name)).tickValues(withRoom(values(name), 8 * height)) : d3.axisLeft(ways.get(name)).ticks(5).tickFormat((value) => digits(+(value / size).toPrecision(3)));
      const group = svg.append("g").attr("transform", `translate(${place(name)},0)`).call(axis);
      group.selectAll(".tick text").attr("class", "halo"); // lines pass behind them
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
    const scales = headlines.map(({ name }) => scaleFor(name, d3.max(shown(name), (mark) => mark.value(name)) || 0));
    const told = (policy) => headlines.map(({ name }, i) => (policy.metrics[name] ? digits(policy.metrics[name].mean / scales[i][0]) : "–"));
    const heads = headlines.map(({ title }, i) => (scales[i][1] ? [title, " ", element("small", scales[i][1])] : title));
    fillTable(byId("table"), ["point", ...axes, "policy", ...heads], sweep.points.flatMap((point) => {
      const first = [point.point, ...axes.map((axis) => point.sets[axis] ?? "–")];
      return point.policies.length > 0 ? point.policies.map((policy) => [...first, policy.policy, ...told(policy)]) : [[...first, `${point.outcome}: ${point.error ?? ""}`]];
    }));
  };

  const done = sweep.points.filter((point) => point.outcome === "done").length;
  byId("title").textContent = sweep.title;
  byId("subtitle").textContent = `${done} of ${sweep.points.length} points done`;
  byId("fluid-note").hidden = !marks.some((mark) => mark.fluid);
  byId("axis").replaceChildren(...axes.map((axis) => element("option", axis)));
  byId("axis").value = axes.reduce((best, axis) => values(axis).length > values(best).length ? axis : best, axes[0]);
  byId("axis").addEventListener("change", drawCharts);
  onNewWidth(drawCharts);
  drawCharts();
  startTrade();
  drawTable();
})();
