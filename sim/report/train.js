// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of a training step from the data in it: shares of each policy, and the timeline of the stages.
(() => {
  "use strict";
  const { data, byId, colour, scaleOf, digits, fillTable, legendItem, legend, widthOf, drawing, nameAxis, onNewWidth, withTip } = page;
  const parts = data.recommender ? "tables" : "layers", samples = data.recommender ? "samples" : "tokens";
  const shares = [["computing", "computing"], ["exposed_exchanges", `exposed communication of ${parts}`], ["waiting", "waiting for other stages"],
    ["exposed_gradients", "exposed gradients"], ["gathered_parameters", "parameters"], ["overhead", "overhead"]];
  const resources = ["computing", "communication", "gradients"];
  const unitOfTime = (longest) => { const [picoseconds, name] = scaleOf("ps", longest * 1e12); return [picoseconds / 1e12, name]; };
  const seconds = (value) => { const [size, name] = unitOfTime(value); return value === 0 ? "0" : `${(value / size).toPrecision(4)} ${name}`; };
  const percent = (part, whole) => `${digits(100 * part / whole)} %`;

  const drawShares = () => {
    const node = byId("share-figure"), row = 30, left = 8, width = widthOf(node), longest = d3.max(data.policies, (policy) => policy.seconds.step), [size, unit] = unitOfTime(longest);
    node.replaceChildren();
    const x = d3.scaleLinear().domain([0, longest]).range([left, width - 8]), height = data.policies.length * (row + 20) + 44;
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
    svg.append("g").attr("transform", `translate(0,${height - 40})`).call(d3.axisBottom(x.copy().domain([0, longest / size])).ticks(Math.max(2, Math.floor(width / 110))));
    nameAxis(svg, width - 8, height - 4, `time of a step, ${unit}`);
    node.append(legend(shares.map(([, text], i) => legendItem(text, i))));
  };
  const drawTable = () => {
    const row = (name, value) => [name, ...data.policies.map(value)];
    fillTable(byId("share-table"), ["", ...data.policies.map((policy) => policy.policy)], [
      row("step", (policy) => seconds(policy.seconds.step)), ...shares.map(([name, text]) => row(text, (policy) => percent(policy.seconds[name], policy.seconds.step))),
      row(`hidden communication of ${parts}`, (policy) => seconds(policy.seconds.hidden_exchanges)),
      row(`${samples} per second and GPU`, (policy) => digits(policy.tokens_per_second_and_gpu)), row("model TFLOPS per GPU", (policy) => digits(policy.model_tflops_per_gpu))]);
  };

  // Timeline: a row for each stage and resource. Only what is in view is drawn.
  const { timeline } = data, count = timeline.stage.length, last = d3.max(timeline.end_us) || 1;
  const rows = [...new Set(d3.range(count).map((i) => timeline.stage[i] * resources.length + timeline.resource[i]))].sort((a, b) => a - b);
  const zooms = [1, 4, 16, 64, 256];
  const drawTimeline = () => {
    const node = byId("timeline-figure"), width = widthOf(node), left = 64, rowHeight = Math.max(4, Math.min(22, 640 / rows.length)), height = rows.length * rowHeight + 44;
    const span = last / zooms[byId("zoom").value], from = (last - span) * byId("from").value / 1000, place = new Map(rows.map((row, i) => [row, i]));
    node.replaceChildren();
    byId("from-text").textContent = seconds(from / 1e6);
    const [size, unit] = unitOfTime((from + span) / 1e6), inUnit = (us) => us / 1e6 / size, x = d3.scaleLinear().domain([inUnit(from), inUnit(from + span)]).range([left, width - 8]), pixel = span / (width - left - 8);
    const svg = drawing(node, width, height, `Timeline of ${data.pipeline_parallelism} stages under ${data.policies[0].policy} from ${seconds(from / 1e6)} to ${seconds((from + span) / 1e6)}: ` +
      timeline.names.join(", "));
    const until = new Map(); // neighbours that are narrower than a pixel are one
    const seen = d3.range(count).filter((i) => timeline.end_us[i] > from && timeline.begin_us[i] < from + span).sort((a, b) => timeline.begin_us[a] - timeline.begin_us[b]).filter((i) => {
      const row = timeline.stage[i] * resources.length + timeline.resource[i], visible = timeline.end_us[i] >= (until.get(row) ?? -pixel) + pixel;
      if (visible) { until.set(row, timeline.end_us[i]); }
      return visible;
    });
    const clip = (us) => x(inUnit(Math.max(from, Math.min(from + span, us))));
    withTip(svg.append("g").attr("class", "crisp").selectAll("rect").data(seen).enter().append("rect").attr("x", (i) => clip(timeline.begin_us[i])).attr("width", (i) => Math.max(1, clip(timeline.end_us[i]) - clip(timeline.begin_us[i])))
      .attr("y", (i) => place.get(timeline.stage[i] * resources.length + timeline.resource[i]) * rowHeight).attr("height", rowHeight * 0.85)
      .attr("fill", (i) => colour(timeline.name[i])),
    (i) => `stage ${timeline.stage[i]}, ${resources[timeline.resource[i]]}: ${timeline.names[timeline.name[i]]}\n${seconds(timeline.begin_us[i] / 1e6)} to ${seconds(timeline.end_us[i] / 1e6)}`);
    svg.append("g").attr("transform", `translate(0,${height - 40})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 110))));
    nameAxis(svg, width - 8, height - 4, `time, ${unit}`);
    rows.forEach((row, i) => { // the first row of each stage has its name
      const stage = Math.floor(row / resources.length);
      if (i === 0 || Math.floor(rows[i - 1] / resources.length) !== stage) { nameAxis(svg, 0, i * rowHeight + Math.max(10, rowHeight * 0.7), `stage ${stage}`, "start"); }
    });
    node.append(legend(timeline.names.map(legendItem)));
  };

  const start = () => {
    byId("title").textContent = `${data.model} on ${digits(data.gpus)} GPUs (${data.gpu})`;
    document.title = `${data.model}: training step – moefabric`;
    byId("subtitle").textContent = (data.recommender ? `tables over ${digits(data.gpus)} GPUs, matrices on each; `
      : `tensor ${data.tensor_parallelism} × data ${data.data_parallelism} × pipeline ${data.pipeline_parallelism}, experts over ${data.expert_parallelism} GPUs, ${data.micro_batches} micro-batches, `) +
      `${data.seeds} ${data.seeds === 1 ? "seed" : "seeds"}`;
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
