// SPDX-License-Identifier: GPL-3.0-or-later
// What all pages draw with.
const page = (() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);

  // Colours that colour-blind people can tell apart (the first six: Okabe and Ito, 2008); dashes tell them apart without colours.
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#a6761d", "#999933", "#882255"];
  const dashes = ["", "6 3", "2 2", "8 3 2 3"];
  const colour = (i) => colours[i % colours.length];

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
    const list = scales[unit] || [[1, unit === "1" ? "" : unit]];
    return list.find(([size]) => largest >= size) || list[list.length - 1];
  };

  const element = (name, text, className) => {
    const node = document.createElement(name);
    if (text !== undefined) { node.textContent = text; }
    if (className) { node.className = className; }
    return node;
  };
  // A cell is a text, or a list of texts and elements; the first of a row names it.
  const fillTable = (table, heads, rows) => {
    table.replaceChildren();
    const put = (line, name, scope, content) => {
      const cell = element(name);
      if (scope) { cell.scope = scope; }
      cell.append(...(Array.isArray(content) ? content : [content]));
      line.append(cell);
    };
    const head = table.createTHead().insertRow(), body = table.createTBody();
    heads.forEach((content) => put(head, "th", "col", content));
    rows.forEach((row) => {
      const line = body.insertRow();
      row.forEach((content, i) => put(line, i === 0 ? "th" : "td", i === 0 ? "row" : "", content));
    });
  };
  const swatch = (i) => { const node = element("span", "", "swatch"); node.style.background = colour(i); return node; };
  const legendItem = (name, i) => { const item = element("span", name); item.prepend(swatch(i)); return item; };
  const legend = (items) => { const node = element("div", undefined, "legend"); node.append(...items); return node; };

  const widthOf = (node) => Math.max(280, Math.floor(node.getBoundingClientRect().width) || 320);
  const drawing = (parent, width, height, label) => d3.select(parent).append("svg").attr("width", width).attr("height", height)
    .attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
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

  return { data, byId, colours, dashes, colour, scaleOf, element, fillTable, swatch, legendItem, legend, widthOf, drawing, onNewWidth, withTip };
})();
