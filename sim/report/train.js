// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of a training step from the data in it: shares of each policy, and the timeline of the stages.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  // Colours that colour-blind people can tell apart (Okabe and Ito, 2008).
  const colours = ["#0072b2", "#d55e00", "#cc79a7", "#e69f00", "#009e73", "#56b4e9", "#7f7f7f", "#a6761d", "#999933", "#882255"];
  const shares = [["computing", "computing"], ["exposed_exchanges", "exposed communication of layers"], ["waiting", "waiting for other stages"],
    ["exposed_gradients", "exposed gradients"], ["gathered_parameters", "parameters"], ["overhead", "overhead"]];
  const resources = ["computing", "communication", "gradients"];
  const element = (name, text, className) => {
    const node = document.createElement(name);
    if (text !== undefined) { node.textContent = text; }
    if (className) { node.className = className; }
    return node;
  };
  const seconds = (value) => (value === 0 ? "0 s" : value >= 1 ? `${value.toPrecision(4)} s` : value >= 1e-3 ? `${(value * 1e3).toPrecision(4)} ms` : `${(value * 1e6).toPrecision(4)} us`);
  const percent = (part, whole) => `${(100 * part / whole).toPrecision(3)} %`;
  const widthOf = (node) => Math.max(280, Math.floor(node.getBoundingClientRect().width) || 320);
  const drawing = (parent, width, height, label) => d3.select(parent).append("svg").attr("width", width).attr("height", height)
    .attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
  const legend = (parent, names) => {
    const node = element("div", undefined, "legend");
    names.forEach((name, i) => { const item = element("span", name), swatch = element("span", "", "swatch"); swatch.style.background = colours[i % colours.length]; item.prepend(swatch); node.append(item); });
    parent.append(node);
  };
  const tip = byId("tip");
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 8)) + "px";
  };
  const withTip = (selection, text) => selection.each(function (datum) {
    this.addEventListener("mousemove", (event) => showTip(text(datum), event.clientX, event.clientY));
    this.addEventListener("mouseleave", () => { tip.hidden = true; });
  });

  const drawShares = () => {
    const node = byId("share-figure"), row = 30, left = 8, width = widthOf(node), longest = d3.max(data.policies, (policy) => policy.seconds.step);
    node.replaceChildren();
    const x = d3.scaleLinear().domain([0, longest]).range([left, width - 8]), height = data.policies.length * (row + 20) + 30;
    const label = data.policies.map((policy) => `${policy.policy}: a step takes ${seconds(policy.seconds.step)}, ` +
      shares.map(([name, text]) => `${text} ${percent(policy.seconds[name], policy.seconds.step)}`).join(", ")).join("; ");
    const svg = drawing(node, width, height, label);
    data.policies.forEach((policy, k) => {
      const y = k * (row + 20);
      let at = 0;
      svg.append("text").attr("x", left).attr("y", y + 13).text(`${policy.policy}: ${seconds(policy.seconds.step)}`);
      shares.forEach(([name, text], i) => {
        const part = policy.seconds[name];
        withTip(svg.append("rect").datum(part).attr("x", x(at)).attr("y", y + 18).attr("width", Math.max(0, x(at + part) - x(at))).attr("height", row - 4).attr("fill", colours[i]),
          () => `${policy.policy}\n${text}: ${seconds(part)}, ${percent(part, policy.seconds.step)}`);
        at += part;
      });
    });
    svg.append("g").attr("transform", `translate(0,${height - 26})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 110)), "~g"));
    svg.append("text").attr("class", "soft").attr("x", width - 8).attr("y", 13).attr("text-anchor", "end").text("s");
    legend(node, shares.map(([, text]) => text));
  };
  const fillTable = () => {
    const table = byId("share-table"), head = table.createTHead().insertRow(), body = table.createTBody();
    ["", ...data.policies.map((policy) => policy.policy)].forEach((text) => { const cell = element("th", text); cell.scope = "col"; head.append(cell); });
    const rows = [["step", (policy) => seconds(policy.seconds.step)], ...shares.map(([name, text]) => [text, (policy) => percent(policy.seconds[name], policy.seconds.step)]),
      ["hidden communication of layers", (policy) => seconds(policy.seconds.hidden_exchanges)],
      ["tokens per second and GPU", (policy) => policy.tokens_per_second_and_gpu.toPrecision(4)], ["model TFLOPS per GPU", (policy) => policy.model_tflops_per_gpu.toPrecision(4)]];
    rows.forEach(([name, value]) => {
      const line = body.insertRow(), first = element("th", name);
      first.scope = "row";
      line.append(first, ...data.policies.map((policy) => element("td", value(policy))));
    });
  };

  // Timeline: a row for each stage and resource. Only what is in view is drawn.
  const { timeline } = data, count = timeline.stage.length, last = d3.max(timeline.end_us) || 1;
  const rows = [...new Set(d3.range(count).map((i) => timeline.stage[i] * resources.length + timeline.resource[i]))].sort((a, b) => a - b);
  const zooms = [1, 4, 16, 64, 256];
  const drawTimeline = () => {
    const node = byId("timeline-figure"), width = widthOf(node), left = 8, rowHeight = Math.max(4, Math.min(22, 640 / rows.length)), height = rows.length * rowHeight + 30;
    const span = last / zooms[byId("zoom").value], from = (last - span) * byId("from").value / 1000, place = new Map(rows.map((row, i) => [row, i]));
    node.replaceChildren();
    byId("from-text").textContent = seconds(from / 1e6);
    const x = d3.scaleLinear().domain([from / 1e3, (from + span) / 1e3]).range([left, width - 8]), pixel = span / width;
    const svg = drawing(node, width, height, `Timeline of ${data.pipeline_parallelism} stages under ${data.policies[0].policy} from ${seconds(from / 1e6)} to ${seconds((from + span) / 1e6)}: ` +
      timeline.names.join(", "));
    const until = new Map(); // neighbours that are narrower than a pixel are one
    const seen = d3.range(count).filter((i) => timeline.end_us[i] > from && timeline.begin_us[i] < from + span).sort((a, b) => timeline.begin_us[a] - timeline.begin_us[b]).filter((i) => {
      const row = timeline.stage[i] * resources.length + timeline.resource[i], visible = timeline.end_us[i] >= (until.get(row) ?? -1) + pixel / 2;
      if (visible) { until.set(row, timeline.end_us[i]); }
      return visible;
    });
    const clip = (us) => x(Math.max(from, Math.min(from + span, us)) / 1e3);
    withTip(svg.append("g").selectAll("rect").data(seen).enter().append("rect").attr("x", (i) => clip(timeline.begin_us[i])).attr("width", (i) => Math.max(0.5, clip(timeline.end_us[i]) - clip(timeline.begin_us[i])))
      .attr("y", (i) => place.get(timeline.stage[i] * resources.length + timeline.resource[i]) * rowHeight).attr("height", rowHeight * 0.85)
      .attr("fill", (i) => colours[timeline.name[i] % colours.length]),
    (i) => `stage ${timeline.stage[i]}, ${resources[timeline.resource[i]]}: ${timeline.names[timeline.name[i]]}\n${seconds(timeline.begin_us[i] / 1e6)} to ${seconds(timeline.end_us[i] / 1e6)}`);
    svg.append("g").attr("transform", `translate(0,${height - 28})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 110))));
    svg.append("text").attr("class", "soft").attr("x", width - 8).attr("y", height - 32).attr("text-anchor", "end").text("ms");
    legend(node, timeline.names);
  };

  const start = () => {
    byId("title").textContent = `${data.model} on ${data.gpus} ${data.gpu}`;
    document.title = `${data.model}: training step – moefabric`;
    byId("subtitle").textContent = `tensor ${data.tensor_parallelism} × data ${data.data_parallelism} × pipeline ${data.pipeline_parallelism}, experts over ${data.expert_parallelism} GPUs, ` +
      `${data.micro_batches} micro-batches, ${data.seeds} ${data.seeds === 1 ? "seed" : "seeds"}`;
    byId("timeline-note").textContent = `${data.policies[0].policy}: a row for what each stage computes, sends in its layers, and reduces of gradients, from the top down; up to the last gradients.`;
    byId("zoom").append(...zooms.map((zoom, i) => new Option(zoom === 1 ? "the whole step" : `1 ⁄ ${zoom} of it`, i)));
    byId("zoom").onchange = drawTimeline;
    byId("from").oninput = drawTimeline;
    let waiting = 0, width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; clearTimeout(waiting); waiting = setTimeout(() => { drawShares(); drawTimeline(); }, 150); } });
    drawShares();
    fillTable();
    drawTimeline();
    document.documentElement.dataset.drawn = "yes";
  };
  start();
})();
