// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of a training step from the data in it: shares of each policy, and the timeline of the stages.
(() => {
  "use strict";
  const { data, byId, colour, element, fillTable, legendItem, legend, widthOf, drawing, onNewWidth, withTip } = page;
  const shares = [["computing", "computing"], ["exposed_exchanges", "exposed communication of layers"], ["waiting", "waiting for other stages"],
    ["exposed_gradients", "exposed gradients"], ["gathered_parameters", "parameters"], ["overhead", "overhead"]];
  const resources = ["computing", "communication", "gradients"];
  const seconds = (value) => (value === 0 ? "0 s" : value >= 1 ? `${value.toPrecision(4)} s` : value >= 1e-3 ? `${(value * 1e3).toPrecision(4)} ms` : `${(value * 1e6).toPrecision(4)} us`);
  const percent = (part, whole) => `${(100 * part / whole).toPrecision(3)} %`;

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
        withTip(svg.append("rect").datum(part).attr("x", x(at)).attr("y", y + 18).attr("width", Math.max(0, x(at + part) - x(at))).attr("height", row - 4).attr("fill", colour(i)),
          () => `${policy.policy}\n${text}: ${seconds(part)}, ${percent(part, policy.seconds.step)}`);
        at += part;
      });
    });
    svg.append("g").attr("transform", `translate(0,${height - 26})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 110)), "~g"));
    svg.append("text").attr("class", "soft").attr("x", width - 8).attr("y", 13).attr("text-anchor", "end").text("s");
    node.append(legend(shares.map(([, text], i) => legendItem(text, i))));
  };
  const drawTable = () => {
    const row = (name, value) => [name, ...data.policies.map(value)];
    fillTable(byId("share-table"), ["", ...data.policies.map((policy) => policy.policy)], [
      row("step", (policy) => seconds(policy.seconds.step)), ...shares.map(([name, text]) => row(text, (policy) => percent(policy.seconds[name], policy.seconds.step))),
      row("hidden communication of layers", (policy) => seconds(policy.seconds.hidden_exchanges)),
      row("tokens per second and GPU", (policy) => policy.tokens_per_second_and_gpu.toPrecision(4)), row("model TFLOPS per GPU", (policy) => policy.model_tflops_per_gpu.toPrecision(4))]);
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
      .attr("fill", (i) => colour(timeline.name[i])),
    (i) => `stage ${timeline.stage[i]}, ${resources[timeline.resource[i]]}: ${timeline.names[timeline.name[i]]}\n${seconds(timeline.begin_us[i] / 1e6)} to ${seconds(timeline.end_us[i] / 1e6)}`);
    svg.append("g").attr("transform", `translate(0,${height - 28})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 110))));
    svg.append("text").attr("class", "soft").attr("x", width - 8).attr("y", height - 32).attr("text-anchor", "end").text("ms");
    node.append(legend(timeline.names.map(legendItem)));
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
    onNewWidth(() => { drawShares(); drawTimeline(); });
    drawShares();
    drawTable();
    drawTimeline();
    document.documentElement.dataset.drawn = "yes";
  };
  start();
})();
