// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page of results. One function a section; all of them read `state`.
(() => {
  "use strict";
  const { data: results, byId, dashes, colour, scaleOf, unitOf, digits, format, times, element, fillTable, swatch, legendItem, dashItem, legend, widthOf, drawing, nameAxis,
    onNewWidth, withTip } = page;
  const state = { result: results[0], policy: 0, quantity: 0, step: 0 };
  // What is much stands out: dark on white, bright on a dark screen.
  const darkScreen = matchMedia("screen and (prefers-color-scheme: dark)");
  const heat = (t) => d3.interpolateYlOrRd(darkScreen.matches ? 0.85 - 0.85 * t : 0.12 + 0.88 * t);

  // Elements -------------------------------------------------------------------------------------------------------
  const clear = (node) => { node.replaceChildren(); return node; };
  const figure = (parent, caption, small) => {
    const node = element("figure"), title = element("figcaption", caption);
    if (small) { title.append(" ", element("small", small)); }
    node.append(title);
    parent.append(node);
    return node;
  };

  const details = () => state.result.policies[state.policy];

  // Results --------------------------------------------------------------------------------------------------------
  const headlineRows = new Set(["rank_time.p50", "rank_time.p99", "rank_time.max", "message_time.p50", "message_time.p99", "message_time.max",
    "slowdown.p99", "slowdown.max", "time", "ideal_share", "busbw", "fabric_payload", "worst_queue", "ecn_marks", "pauses", "paused_time",
    "credit_stalls", "credit_stalled_time", "retransmissions", "out_of_order", "receive_discards", "drops_lossy", "drops_lossless", "drops_watchdog",
    "undelivered"]);

  const valueCell = (entry, scale, isFirst) => {
    if (entry.mean === null) { return ["–"]; }
    const range = entry.interval_low !== null ? [entry.interval_low, entry.interval_high] : [entry.lowest, entry.highest];
    const parts = [digits(entry.mean / scale)];
    if (digits(range[0] / scale) !== digits(range[1] / scale)) {
      parts.push(" ", element("small", `(${digits(range[0] / scale)}–${digits(range[1] / scale)})`));
    }
    if (!isFirst && entry.ratio_to_first !== null) {
      const low = entry.ratio_interval_low, high = entry.ratio_interval_high;
      parts.push(" ", element("small", `${times(entry.ratio_to_first)}${low !== null && low < high && low <= 1 && high >= 1 ? "~" : ""}`));
    }
    return parts;
  };
  const drawHeadline = () => {
    const metrics = state.result.comparison.metrics.filter((metric) => byId("all-rows").checked || headlineRows.has(metric.metric));
    const policies = metrics.length ? metrics[0].policies : [];
    const seeds = policies.length ? policies[0].seeds.length : 0;
    const rows = metrics.map((metric) => {
      const largest = d3.max(metric.policies, (entry) => entry.highest) || 0;
      const [scale, name] = scaleOf(unitOf(metric.metric, metric.unit), largest);
      const label = element("span", metric.name);
      label.setAttribute("aria-description", metric.meaning);
      withTip(d3.select(label), () => metric.meaning);
      return [[label, " ", element("small", name)], ...metric.policies.map((entry, i) => valueCell(entry, scale, i === 0))];
    });
    fillTable(byId("headline-table"), ["", ...policies.map((entry, i) => [swatch(i), entry.policy])], rows);
    const range = seeds >= 5 ? "its 95 % confidence interval" : "lowest–highest";
    byId("headline-note").textContent = (seeds > 1 ? `Mean (${range}) over ${seeds} seeds` : "One seed") +
      (policies.length > 1 ? `; × is the mean of each seed's ratio to ${policies[0].policy}${seeds >= 5 ? "; ~: the seeds do not tell it from 1" : ""}` : "") +
      ". Point at a row's name, or tap it, for its meaning.";
  };

  // Distributions --------------------------------------------------------------------------------------------------
  const drawDistribution = (parent, index) => {
    const curves = state.result.policies.map((policy, i) => ({ ...policy.distributions[index], policy: policy.policy, i }))
      .filter((curve) => curve.count > 0);
    if (!curves.length) { return; }
    const { name, unit } = curves[0];
    const node = figure(parent, name, `${d3.format(",")(curves[0].count)} values a policy`);
    const width = widthOf(node), height = 270, margin = { left: 58, right: 12, top: 22, bottom: 40 };
    const points = (curve) => curve.beyond.map((part, i) => [curve.values[i], part]);
    const quantile = (curve, q) => { const at = curve.beyond.findIndex((part) => part <= 1 - q); return curve.values[at < 0 ? curve.values.length - 1 : at]; };
    const all = curves.flatMap((curve) => curve.values).filter((value) => value > 0);
    const [scale, unitName] = scaleOf(unit, d3.max(all));
    const [least, most] = [d3.min(all) / scale, d3.max(all) / scale];
    const x = (most > 5 * least ? d3.scaleLog().domain([least * 0.95, most * 1.05]) : d3.scaleLinear().domain([least - (most - least) * 0.03, most + (most - least) * 0.03 || most * 1.01]))
      .range([margin.left, width - margin.right]);
    const y = d3.scaleLog().domain([d3.min(curves, (curve) => curve.beyond[curve.beyond.length - 1]), 1]).range([height - margin.bottom, margin.top]);
    const label = `${name}: ` + curves.map((curve) => `${curve.policy} median ${format(quantile(curve, 0.5), unit)}, ` +
      `largest ${format(curve.values[curve.values.length - 1], unit)}`).join("; ");
    const svg = drawing(node, width, height, label);
    const ticks = Math.max(2, Math.floor(width / 90));
    svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`).call(d3.axisBottom(x).ticks(ticks, "~r"));
    svg.append("g").attr("transform", `translate(${margin.left},0)`).call(d3.axisLeft(y).ticks(4, "~g"));
    nameAxis(svg, width - margin.right, height - 6, `${name}, ${unitName || "× the unloaded time"}`);
    nameAxis(svg, 0, 10, "part above", "start");
    const line = d3.line().x((p) => x(p[0] / scale)).y((p) => y(p[1])).curve(d3.curveStepAfter);
    withTip(svg.selectAll("path.curve").data(curves).enter().append("path").attr("class", "curve").attr("tabindex", 0).attr("fill", "none").attr("stroke-width", 2)
      .attr("stroke", (curve) => colour(curve.i)).attr("stroke-dasharray", (curve) => dashes[curve.i % dashes.length])
      .attr("d", (curve) => line(points(curve).filter((p) => p[0] > 0))),
    (curve) => `${curve.policy}\n` + [0.5, 0.9, 0.99, 0.999].filter((q) => curve.count * (1 - q) >= 1)
      .map((q) => `p${+(100 * q).toFixed(1)} ${format(quantile(curve, q), unit)}`).join("\n"));
    node.append(legend(curves.map((curve) => dashItem(curve.policy, curve.i, dashes[curve.i % dashes.length]))));
  };
  const drawDistributions = () => {
    const parent = clear(byId("distribution-charts"));
    const count = state.result.policies.length ? state.result.policies[0].distributions.length : 0;
    for (let i = 0; i < count; i++) { drawDistribution(parent, i); }
  };

  // Fabric ---------------------------------------------------------------------------------------------------------
  const quantities = [
    { name: "utilisation", unit: "share", of: (use, i) => use.busy[i], full: true, column: 1, recorded: "sent_bytes" },
    { name: "deepest queue", unit: "B", of: (use, i) => use.deepest_bytes[i], column: 3, recorded: "deepest_bytes" },
    { name: "paused, or without credit", unit: "ps", of: (use, i) => use.paused_ps[i], column: 4 },
    { name: "ECN marks", unit: "packets", of: (use, i) => use.marks[i], column: 5 },
    { name: "drops and losses", unit: "packets", of: (use, i) => use.drops[i], column: 6 },
  ];
  const endName = (text) => text.split(":")[0];
  // Devices by their distance from the GPUs: 0 = GPUs, 1 = leaves …
  const findDevices = (result) => {
    if (result.devices) { return result.devices; }
    const { links, ranks } = result, devices = new Map();
    const touch = (id, name) => { if (!devices.has(id)) { devices.set(id, { id, name, tier: id < ranks ? 0 : -1, links: [] }); } return devices.get(id); };
    links.name.forEach((name, i) => {
      const [tail, head] = name.split(" → ");
      touch(links.tail[i], endName(tail)).links.push(i);
      touch(links.head[i], endName(head || "?"));
    });
    for (let tier = 0, edge = [...devices.values()].filter((device) => device.tier === 0); edge.length; tier++) {
      const next = [];
      edge.forEach((device) => device.links.forEach((i) => {
        const other = devices.get(links.head[i]);
        if (other.tier < 0) { other.tier = tier + 1; next.push(other); }
      }));
      edge = next;
    }
    result.devices = devices;
    return devices;
  };
  // The box of a GPU: its rack; where racks are single hosts, those of one leaf together.
  const rackOf = (result, id) => {
    if (id >= result.ranks) { return null; }
    if (!result.boxes) {
      const { links, ranks } = result, leaf = new Map();
      links.tail.forEach((tail, i) => { if (tail < ranks && !leaf.has(tail)) { leaf.set(tail, "hosts of " + endName(links.name[i].split(" → ")[1] || "")); } });
      const single = new Set(result.rack_of_rank).size === ranks || result.rack_of_rank[0] < 0;
      result.boxes = d3.range(ranks).map((rank) => (single ? leaf.get(rank) || "hosts" : "rack" + result.rack_of_rank[rank]));
    }
    return result.boxes[id];
  };
  // Places of boxes: racks below, switches above, a row a tier.
  const layOut = (result, width) => {
    const devices = findDevices(result), places = new Map();
    const tiers = d3.max([...devices.values()], (device) => device.tier) || 0;
    let y = 16;
    for (let tier = tiers; tier >= 1; tier--) {
      const row = [...devices.values()].filter((device) => device.tier === tier).sort((a, b) => a.id - b.id);
      const step = width / row.length;
      row.forEach((device, i) => places.set(device.id, { x: i * step + step * 0.08, y, width: step * 0.84, height: 26, name: device.name, device }));
      y += 26 + (tier === 1 ? 90 : 110);
    }
    const members = new Map();
    d3.range(result.ranks).forEach((rank) => { const key = rackOf(result, rank); if (!members.has(key)) { members.set(key, []); } members.get(key).push(rank); });
    const perRow = Math.min(members.size, Math.max(4, Math.floor(width / 46))), step = width / perRow;
    const largest = d3.max([...members.values()], (list) => list.length), columns = Math.ceil(Math.sqrt(largest * step / 60)) || 1;
    const cell = Math.min(14, (step * 0.84 - 4) / columns), boxHeight = Math.ceil(largest / columns) * cell + 22;
    [...members.entries()].forEach(([key, list], i) => places.set(key, {
      x: (i % perRow) * step + step * 0.08, y: y + Math.floor(i / perRow) * (boxHeight + 14), width: step * 0.84, height: boxHeight, name: key, ranks: list, columns, cell }));
    return { places, height: y + Math.ceil(members.size / perRow) * (boxHeight + 14) };
  };
  // Parallel links, both directions, and all links of a rack to one leaf are one line.
  const gatherEdges = (result) => {
    const edges = new Map(), { links } = result;
    links.name.forEach((name, i) => {
      const ends = [links.tail[i], links.head[i]].map((id) => rackOf(result, id) || id);
      const key = ends.map(String).sort().join("|");
      if (!edges.has(key)) { edges.set(key, { ends, links: [] }); }
      edges.get(key).links.push(i);
    });
    return [...edges.values()];
  };
  // What was recorded over time of the quantity that is shown, if anything.
  const recordedRows = (policy) => (policy && policy.series && (quantities[state.quantity].recorded && policy.series[quantities[state.quantity].recorded])) || null;
  const currentValues = () => {
    const policy = details(), quantity = quantities[state.quantity], { links } = state.result, series = policy.series;
    if (!series || state.step === 0) { return links.name.map((name, i) => quantity.of(policy.use, i)); }
    const values = links.name.map(() => null), rows = recordedRows(policy);
    series.link.forEach((link, i) => {
      if (link >= 0) { values[link] = state.quantity === 1 ? rows[state.step - 1][i] : rows[state.step - 1][i] * 8e12 / series.interval_ps / links.rate_bits_per_s[link]; }
    });
    return values;
  };
  const describeLink = (i, values) => {
    const { links } = state.result, { use } = details(), quantity = quantities[state.quantity];
    return `${links.name[i]}: ${quantity.name} ${values[i] === null ? "not recorded" : format(values[i], quantity.unit)} (${format(links.rate_bits_per_s[i], "bit/s")}, ` +
      `${format(use.busy[i], "share")} busy, ${format(use.bytes[i], "B")}, queue ${format(use.deepest_bytes[i], "B")}` +
      `${use.paused_ps[i] ? ", paused " + format(use.paused_ps[i], "ps") : ""}${use.marks[i] ? ", " + digits(use.marks[i]) + " marks" : ""}${use.drops[i] ? ", " + digits(use.drops[i]) + " lost" : ""})`;
  };
  // Rows of the crossings by link, found once a policy.
  const crossingsOf = (policy, i) => {
    if (!policy.rows_of_link) {
      policy.rows_of_link = d3.group(d3.range(policy.crossings.link.length), (row) => policy.crossings.link[row]);
    }
    return policy.rows_of_link.get(i) || [];
  };
  const describeFlows = (i) => {
    const policy = details(), rows = crossingsOf(policy, i).slice(0, 4);
    return rows.map((row) => {
      const [source, destination, phase, bytes, slowdown] = policy.crossing_flows[policy.crossings.flow[row]], here = policy.crossings.bytes[row];
      return `\n  gpu${source} → gpu${destination}, ${policy.phases[phase].name}: ${format(here, "B")}${here < 0.999 * bytes ? " of " + format(bytes, "B") : ""}` +
        (slowdown > 0 ? `, ${digits(slowdown)} × unloaded` : ", unfinished");
    }).join("");
  };
  const describeLinks = (title, list, values) => {
    const sorted = list.slice().sort((a, b) => values[b] - values[a]);
    return title + "\n" + sorted.slice(0, 4).map((i) => describeLink(i, values) + describeFlows(i)).join("\n") + (list.length > 4 ? `\n… and ${list.length - 4} more links` : "");
  };
  const drawEdges = (svg, places, values, paint) => {
    const MOST = 4000;
    const middle = (end) => { const place = places.get(end); return [place.x + place.width / 2, place]; };
    const edges = gatherEdges(state.result).map((edge) => ({ ...edge, value: d3.max(edge.links, (i) => values[i]) || 0 }))
      .filter((edge) => edge.ends.every((end) => places.has(end))).sort((a, b) => a.value - b.value).slice(-MOST);
    withTip(svg.append("g").selectAll("path").data(edges).enter().append("path").attr("class", "edge")
      .attr("stroke", (edge) => (edge.value > 0 ? paint(edge.value) : "var(--empty)")).attr("stroke-width", (edge) => (edge.value > 0 ? 1.6 : 1))
      .attr("d", (edge) => {
        const [upper, lower] = edge.ends.map(middle).sort((a, b) => a[1].y - b[1].y);
        return `M${upper[0]},${upper[1].y + upper[1].height}L${lower[0]},${lower[1].y}`;
      }), (edge) => describeLinks("", edge.links, values).trim());
  };
  const linksOf = (place) => {
    const { links } = state.result, ids = new Set(place.ranks || [place.device.id]);
    return d3.range(links.name.length).filter((i) => ids.has(links.tail[i]) || ids.has(links.head[i]));
  };
  const drawBoxes = (svg, places, values, paint) => {
    const list = [...places.values()];
    const boxes = svg.append("g").selectAll("g").data(list).enter().append("g").attr("class", "node").attr("tabindex", 0).attr("role", "img")
      .attr("aria-label", (place) => place.name);
    boxes.append("rect").attr("class", "box").attr("rx", 3).attr("x", (p) => p.x).attr("y", (p) => p.y).attr("width", (p) => p.width).attr("height", (p) => p.height);
    const shortName = (p) => [p.name, p.name.replace(/^.*?(\d+)$/, "$1")].find((name) => p.width > 7 * name.length) || "";
    boxes.append("text").attr("x", (p) => p.x + p.width / 2).attr("y", (p) => p.y + (p.ranks ? 14 : 17)).attr("text-anchor", "middle").text(shortName);
    const strongest = new Map(), { links, ranks } = state.result;
    links.name.forEach((name, i) => [links.tail[i], links.head[i]].forEach((id) => { if (id < ranks) { strongest.set(id, Math.max(strongest.get(id) || 0, values[i] || 0)); } }));
    const cells = list.filter((p) => p.ranks).flatMap((p) => p.ranks.map((rank, i) => ({ x: p.x + 2 + (i % p.columns) * p.cell, y: p.y + 19 + Math.floor(i / p.columns) * p.cell, size: p.cell * 0.88, rank })));
    svg.append("g").attr("pointer-events", "none").selectAll("rect").data(cells).enter().append("rect").attr("class", "cell").attr("x", (c) => c.x).attr("y", (c) => c.y)
      .attr("width", (c) => c.size).attr("height", (c) => c.size).attr("fill", (c) => (strongest.get(c.rank) > 0 ? paint(strongest.get(c.rank)) : "var(--empty)"));
    withTip(boxes, (place) => describeLinks(place.name, linksOf(place), values));
  };
  const drawScale = (svg, x, y, text) => {
    const bar = svg.append("g").attr("class", "scale").attr("transform", `translate(${x},${y})`);
    d3.range(40).forEach((i) => bar.append("rect").attr("x", i * 3).attr("y", 0).attr("width", 3).attr("height", 8).attr("fill", heat((i + 0.5) / 40)));
    bar.append("text").attr("class", "soft").attr("x", 128).attr("y", 9).text(text);
  };
  const drawFabric = () => {
    const node = clear(byId("fabric-figure")), { result } = state, policy = details(), quantity = quantities[state.quantity];
    if (!policy || !result.links.name.length) { byId("fabric-note").textContent = "Nothing is known of the fabric."; return; }
    const values = currentValues(), largest = d3.max(values) || 0, top = quantity.full ? 1 : largest || 1;
    const paint = (value) => heat(Math.min(1, value / top));
    const width = widthOf(node), { places, height } = layOut(result, width);
    const svg = drawing(node, width, height + 24, `Fabric under ${policy.policy}: ${quantity.name} of links; the largest is ${format(largest, quantity.unit)}`).attr("role", "group");
    drawScale(svg, 0, 0, largest > 0 ? `0 to ${format(top, quantity.unit)} ${quantity.name}` : `${quantity.name}: 0 everywhere`);
    const picture = svg.append("g").attr("transform", "translate(0,8)");
    drawEdges(picture, places, values, paint);
    drawBoxes(picture, places, values, paint);
    byId("fabric-note").textContent = `${policy.policy}, seed ${policy.seed}. A line stands for all links between two boxes and shows the worst of them; squares are GPUs, with the worst of their own links. ` +
      "Point at a line or a box, or move to a box with the Tab key, for the links behind it and the flows with most bytes there" +
      (policy.crossings.link.length ? "; where packets are spread over several ways, the bytes that are expected." : " (this result does not tell them).");
    drawLinks(policy, values, quantity);
  };
  // Numbers are those of the whole run; order follows what the picture shows.
  const drawLinks = ({ use }, values, quantity) => {
    const order = d3.range(values.length).sort((a, b) => values[b] - values[a]).slice(0, 12), table = byId("link-table");
    byId("link-title").textContent = `Links by ${quantity.name}` + (state.step > 0 ? " at this time; numbers of the whole run" : "");
    fillTable(table, ["link", "busy", "sent", "deepest queue", "paused, or without credit", "ECN marks", "lost"], order.map((i) => [state.result.links.name[i],
      format(use.busy[i], "share"), format(use.bytes[i], "B"), format(use.deepest_bytes[i], "B"), format(use.paused_ps[i], "ps"), digits(use.marks[i]), digits(use.drops[i])]));
    table.tHead.rows[0].cells[quantity.column].setAttribute("aria-sort", "descending");
  };
  const prepareTime = () => {
    const { series } = details() || {}, steps = recordedRows(details());
    byId("fabric-time-choice").hidden = !steps;
    state.step = steps ? Math.min(state.step, steps.length) : 0;
    if (steps) {
      byId("fabric-time").max = steps.length;
      byId("fabric-time").value = state.step;
      const from = (series.from_ps + (state.step - 1) * series.intervals_a_step * series.interval_ps), to = from + series.intervals_a_step * series.interval_ps;
      byId("fabric-time-text").textContent = state.step === 0 ? "whole run" : `${format(from, "ps")} to ${format(to, "ps")}`;
    }
  };

  // Timeline -------------------------------------------------------------------------------------------------------
  const drawTimeline = () => {
    const node = clear(byId("timeline-figure")), policy = details();
    if (!policy) { return; }
    const firstStart = (phase) => d3.min(phase.start_ps.filter((time) => time >= 0));
    const phases = policy.phases.filter((phase) => phase.finish_ps.some((time) => time > 0)).sort((a, b) => firstStart(a) - firstStart(b));
    const rows = phases.length ? phases[0].start_ps.length : 0;
    const lastName = `rank ${state.result.ranks - 1}`;
    const width = widthOf(node), margin = { left: 8 + 7 * lastName.length, right: 16, top: 4, bottom: 38 }, rowHeight = Math.max(1, Math.min(16, 480 / rows)), opacity = rowHeight >= 4 ? 1 : 0.75; // bars lie over each other
    const height = margin.top + rows * rowHeight + margin.bottom, last = d3.max(phases, (phase) => d3.max(phase.finish_ps)) || 1, [scale, name] = scaleOf("ps", last);
    const x = d3.scaleLinear().domain([0, last / scale]).range([margin.left, width - margin.right]);
    const label = phases.map((phase) => `${phase.name}: first rank done at ${format(d3.min(phase.finish_ps.filter((t) => t >= 0)), "ps")}, last at ${format(d3.max(phase.finish_ps), "ps")}`).join("; ");
    const svg = drawing(node, width, height, `Phases of each rank under ${policy.policy}. ${label}`);
    phases.forEach((phase, k) => {
      const bars = phase.start_ps.map((start, i) => ({ start, finish: phase.finish_ps[i], i })).filter((bar) => bar.start >= 0 && bar.finish >= bar.start);
      const lane = rowHeight / phases.length;
      withTip(svg.append("g").selectAll("rect").data(bars).enter().append("rect").attr("x", (bar) => x(bar.start / scale)).attr("width", (bar) => Math.max(1, x(bar.finish / scale) - x(bar.start / scale)))
        .attr("y", (bar) => margin.top + bar.i * rowHeight + (rowHeight >= 4 ? k * lane : 0)).attr("height", rowHeight >= 4 ? lane * 0.9 : rowHeight).attr("fill", colour(k)).attr("opacity", opacity),
      (bar) => `${policy.ranks_a_row > 1 ? "ranks from " : "rank "}${bar.i * policy.ranks_a_row}, ${phase.name}: ${format(bar.start, "ps")} to ${format(bar.finish, "ps")}`);
    });
    svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 100))));
    nameAxis(svg, width - margin.right, height - 2, `time, ${name}`);
    nameAxis(svg, 0, margin.top + 10, "rank 0", "start");
    nameAxis(svg, 0, height - margin.bottom, lastName, "start");
    node.append(legend(phases.map((phase, k) => { const item = legendItem(phase.name, k); item.firstChild.style.opacity = opacity; return item; })));
    byId("timeline-note").textContent = `${policy.policy}, seed ${policy.seed}: from the start of each rank's part in a phase to its last byte's arrival` +
      (policy.ranks_a_row > 1 ? `; a row stands for ${policy.ranks_a_row} neighbours.` : ".");
  };

  // Traffic --------------------------------------------------------------------------------------------------------
  const drawMatrix = (parent, matrix, caption, item) => {
    const largest = d3.max(matrix.bytes);
    if (matrix.size < 2 || !(largest > 0)) { return; }
    const node = figure(parent, caption, matrix.block > 1 ? `${matrix.block} ${item}s a cell` : "");
    const width = Math.min(widthOf(node), 440), margin = 44, step = (width - margin) / matrix.size;
    const svg = drawing(node, width, width + 26, `${caption}: payload over the fabric from row to column, up to ${format(largest, "B")} a cell`);
    const place = (k) => `${item} ${k * matrix.block}${matrix.block > 1 ? "…" + ((k + 1) * matrix.block - 1) : ""}`;
    withTip(svg.selectAll("rect").data(matrix.bytes.map((bytes, i) => ({ bytes, row: Math.floor(i / matrix.size), column: i % matrix.size }))).enter().append("rect")
      .attr("x", (c) => margin + c.column * step).attr("y", (c) => margin + c.row * step).attr("width", Math.max(1, step * 0.96)).attr("height", Math.max(1, step * 0.96))
      .attr("fill", (c) => (c.bytes > 0 ? heat(c.bytes / largest) : "var(--empty)")), (c) => `${place(c.row)} → ${place(c.column)}: ${format(c.bytes, "B")}`);
    const often = Math.ceil(matrix.size / 8), middle = (k) => margin + (k + 0.5) * step;
    d3.range(0, matrix.size, often).forEach((k) => {
      nameAxis(svg, middle(k), margin - 6, k * matrix.block, "middle");
      nameAxis(svg, margin - 6, middle(k) + 4, k * matrix.block);
    });
    nameAxis(svg, width, 12, `to ${item} →`);
    svg.append("text").attr("class", "soft axis-name").attr("transform", `translate(10,${width}) rotate(-90)`).text(`← from ${item}`);
    drawScale(svg, margin, width + 12, `0 to ${format(largest, "B")} a cell`);
  };
  const drawExperts = (parent, policy) => {
    const tokens = policy.expert_tokens;
    if (!tokens.length) { return; }
    const node = figure(parent, "Tokens of each expert", policy.experts > tokens.length ? `the first ${digits(tokens.length)} of ${digits(policy.experts)}` : `${digits(policy.experts)} experts`);
    const width = widthOf(node), height = 250, margin = { left: 56, right: 12, bottom: 40, top: 22 }, mean = d3.mean(tokens);
    const x = d3.scaleLinear().domain([0, tokens.length]).range([margin.left, width - margin.right]), y = d3.scaleLinear().domain([0, d3.max(tokens)]).nice().range([height - margin.bottom, margin.top]);
    const svg = drawing(node, width, height, `Tokens of each expert: mean ${digits(mean)}, largest ${digits(d3.max(tokens))}, ${digits(d3.max(tokens) / mean)} times the mean`);
    svg.append("g").attr("transform", `translate(${margin.left},0)`).call(d3.axisLeft(y).ticks(5, "~s"));
    svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`).call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 90)), "d"));
    withTip(svg.append("g").selectAll("rect").data(tokens).enter().append("rect").attr("x", (t, i) => x(i)).attr("width", Math.max(0.5, x(1) - x(0) - 0.5)).attr("y", (t) => y(t)).attr("height", (t) => y(0) - y(t)).attr("fill", colour(0)),
      (t) => `${digits(t)} tokens, ${digits(t / mean)} × the mean`);
    svg.append("line").attr("x1", margin.left).attr("x2", width - margin.right).attr("y1", y(mean)).attr("y2", y(mean)).attr("stroke", colour(1)).attr("stroke-width", 2).attr("stroke-dasharray", "4 3");
    nameAxis(svg, width - margin.right, height - 6, "expert");
    nameAxis(svg, 0, 10, "tokens", "start");
    node.append(legend([dashItem(`mean: ${digits(mean)}`, 1, "4 3")]));
  };
  const drawTraffic = () => {
    const parent = clear(byId("traffic-charts")), policy = details();
    if (!policy) { return; }
    if (new Set(state.result.rack_of_rank).size < state.result.ranks) { drawMatrix(parent, policy.rack_matrix, "Rack to rack", "rack"); }
    drawMatrix(parent, policy.gpu_matrix, "GPU to GPU", "GPU");
    drawExperts(parent, policy);
    if (!parent.children.length) { parent.append(element("p", "Nothing crossed the fabric.", "note")); }
  };

  // Slow flows, configuration --------------------------------------------------------------------------------------
  const drawFlows = () => {
    const policy = details(), list = clear(byId("explanations"));
    if (!policy) { return; }
    policy.explanations.forEach((text) => list.append(element("li", text)));
    fillTable(byId("flow-table"), ["flow", "phase", "bytes", "time", "× unloaded", "because"], policy.slowest_flows.map((flow) =>
      [`gpu${flow.source} → gpu${flow.destination}`, flow.phase, format(flow.bytes, "B"), format(flow.active_ps, "ps"), digits(flow.slowdown), flow.reason || "–"]));
  };
  const drawProvenance = () => {
    const { result } = state, runs = result.comparison.runs;
    byId("configuration").textContent = result.configuration;
    byId("provenance-note").textContent = `${result.name}: moefabric ${result.program_version}, ${runs.length} ${runs.length === 1 ? "run" : "runs"}` +
      (runs.length ? `, traffic digest ${[...new Set(runs.map((run) => run.traffic_digest))].join(", ")}` : "") + ". Equal digests mean the same traffic.";
  };

  // The page -------------------------------------------------------------------------------------------------------
  const drawDetails = () => { prepareTime(); drawFabric(); drawTimeline(); drawTraffic(); drawFlows(); };
  const choosePolicies = () => {
    clear(byId("policy")).append(...state.result.policies.map((policy, i) => new Option(policy.policy, i)));
    state.policy = Math.min(state.policy, Math.max(0, state.result.policies.length - 1));
    byId("policy").value = state.policy;
  };
  const draw = () => {
    const { result } = state;
    byId("title").textContent = result.title;
    document.title = `${result.title} – moefabric`;
    byId("subtitle").textContent = `${digits(result.ranks || 0)} GPUs, ${result.policies.length} ${result.policies.length === 1 ? "policy" : "policies"}`;
    choosePolicies();
    drawHeadline();
    drawDistributions();
    drawDetails();
    drawProvenance();
  };
  const start = () => {
    byId("result").append(...results.map((result, i) => new Option(result.name, i)));
    byId("result-choice").hidden = results.length < 2;
    byId("fabric-quantity").append(...quantities.map((quantity, i) => new Option(quantity.name, i)));
    byId("result").onchange = (event) => { state.result = results[event.target.value]; state.step = 0; draw(); };
    byId("policy").onchange = (event) => { state.policy = +event.target.value; drawDetails(); };
    byId("fabric-quantity").onchange = (event) => { state.quantity = +event.target.value; prepareTime(); drawFabric(); };
    byId("fabric-time").oninput = (event) => { state.step = +event.target.value; prepareTime(); drawFabric(); };
    byId("all-rows").onchange = drawHeadline;
    onNewWidth(draw);
    darkScreen.addEventListener("change", drawDetails);
    draw();
    document.documentElement.dataset.drawn = "yes";
  };
  start();
})();
