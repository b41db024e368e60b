// SPDX-License-Identifier: GPL-3.0-or-later
// What all pages draw with.
const page = (() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);

  // Colours that colour-blind people can tell apart (the first six: Okabe and Ito, 2008, each as dark or light as the paper asks for; page.css);
  // dashes tell them apart without colours.
  const COLOURS = 10;
  const dashes = ["", "6 3", "2 2", "8 3 2 3"];
  const colour = (i) => `var(--mark-${i % COLOURS})`;

  // The unit in which the largest of some values is written, and its size.
  const scales = {
    ps: [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]],
    B: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]],
    "B/s": [[1e9, "GB/s"]],
    "bit/s": [[1e9, "Gb/s"]],
    W: [[1e6, "MW"], [1e3, "kW"], [1, "W"]],
    share: [[0.01, "%"]],
  };
  const scaleOf = (unit, largest) => {
    const counted = unit === "1" ? "" : unit, list = scales[unit] || [[1e6, `million ${counted}`.trim()], [1, counted]];
    return list.find(([size]) => largest >= size) || list[largest > 0 ? list.length - 1 : Math.min(2, list.length - 1)];
  };
  // Of numbers without a unit some are parts of a whole.
  const unitOf = (metric, unit) => (unit === "1" && /(^|\/)(goodput|ideal_share)$/.test(metric) ? "share" : unit);

  // Three digits at least; whole numbers are whole.
  const digits = (value) => {
    if (!Number.isFinite(value)) { return "–"; }
    const size = Math.abs(value);
    return size >= 999.5 ? d3.format(",.0f")(value) : Number.isInteger(value) ? String(value) : size >= 99.95 ? value.toFixed(0)
      : size >= 9.995 ? value.toFixed(1) : size >= 0.9995 ? value.toFixed(2) : value.toPrecision(3);
  };
  const format = (value, unit) => {
    if (value === null || value === undefined || Number.isNaN(value)) { return "–"; }
    if (value === 0) { return "0"; }
    const [size, name] = scaleOf(unit, Math.abs(value));
    return digits(value / size) + (name ? " " + name : "");
  };
  const times = (ratio) => "×" + (Number.isInteger(ratio) && ratio > 0 && ratio < 10 ? ratio.toFixed(2) : digits(ratio));

  const element = (name, text, className) => {
    const node = document.createElement(name);
    if (text !== undefined) { node.textContent = text; }
    if (className) { node.className = className; }
    return node;
  };
  // A cell is a text, or a list of texts and elements; the first of a row names it. Columns of words begin on the left.
  const isWords = (content) => typeof content === "string" && /^[^\d–×-]/.test(content);
  const fillTable = (table, heads, rows) => {
    table.replaceChildren();
    const words = heads.map((head, i) => rows.some((row) => isWords(row[i])));
    const put = (line, name, scope, content, i) => {
      const cell = element(name, undefined, words[i] ? "text" : "");
      if (scope) { cell.scope = scope; }
      cell.append(...(Array.isArray(content) ? content : [content]));
      line.append(cell);
    };
    const head = table.createTHead().insertRow(), body = table.createTBody();
    heads.forEach((content, i) => put(head, "th", "col", content, i));
    rows.forEach((row) => {
      const line = body.insertRow();
      row.forEach((content, i) => put(line, i === 0 ? "th" : "td", i === 0 ? "row" : "", content, i));
    });
    const box = table.closest(".scroll"), isWider = box && box.scrollWidth > box.clientWidth;
    if (isWider) { box.tabIndex = 0; } // so that the arrow keys move it
  };
  const swatch = (i) => { const node = element("span", "", "swatch"); node.style.background = colour(i); return node; };
  const legendItem = (name, i) => { const item = element("span", name); item.prepend(swatch(i)); return item; };
  const dashItem = (name, i, dash) => {
    const item = element("span", name), svg = d3.create("svg").attr("class", "dash").attr("width", 26).attr("height", 4).attr("aria-hidden", "true");
    svg.append("line").attr("x2", 26).attr("y1", 2).attr("y2", 2).attr("stroke", colour(i)).attr("stroke-width", 2.5).attr("stroke-dasharray", dash);
    item.prepend(svg.node());
    return item;
  };
  const legend = (items) => { const node = element("div", undefined, "legend"); node.append(...items); return node; };

  const widthOf = (node) => Math.max(280, Math.floor(node.getBoundingClientRect().width) || 320);
  const drawing = (parent, width, height, label) => d3.select(parent).append("svg").attr("width", width).attr("height", height)
    .attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
  // What an axis shows, and in which unit: at its end.
  const nameAxis = (svg, x, y, text, anchor = "end") => svg.append("text").attr("class", "soft axis-name").attr("x", x).attr("y", y).attr("text-anchor", anchor).text(text);
  const onNewWidth = (draw) => {
    let waiting = 0, width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; clearTimeout(waiting); waiting = setTimeout(draw, 150); } });
  };

  const tip = byId("tip");
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 8)) + "px";
  };
  const hideTip = () => { tip.hidden = true; };
  // text is asked only when somebody looks
  const withTip = (selection, text) => selection.each(function (datum) {
    this.addEventListener("mousemove", (event) => showTip(text(datum), event.clientX, event.clientY));
    this.addEventListener("mouseleave", hideTip);
    if (!this.hasAttribute("tabindex")) { return; } // browsers stop at everything that listens for focus
    this.addEventListener("focus", () => { const box = this.getBoundingClientRect(); showTip(text(datum), box.left, box.bottom); });
    this.addEventListener("blur", hideTip);
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") { hideTip(); } });

  return { data, byId, dashes, COLOURS, colour, scaleOf, unitOf, digits, format, times, element, fillTable, swatch, legendItem, dashItem, legend, widthOf, drawing, nameAxis,
    onNewWidth, withTip };
})();
