// SPDX-License-Identifier: GPL-3.0-or-later
// Opens pages in headless Chromium as readers would, and says what is not as it should be.
//     node browser.mjs CHROMIUM FOLDER      FOLDER/pages.json says which pages, how they are opened, and what they must hold
// With MOEFABRIC_SCREENSHOTS=FOLDER it also leaves a picture of each.
import { readFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, folder] = process.argv.slice(2);
const pictures = process.env.MOEFABRIC_SCREENSHOTS;
const LONGEST_MS = 2000, MOST_TABS = 80, LEAST_CONTRAST = 4.5, LEAST_MARK_CONTRAST = 3;
let failed = 0;

const expect = (condition, text) => {
  console.log((condition ? "ok: " : "FAILED: ") + text);
  failed += !condition;
};

// What a page holds, counted inside it.
const count = (page) => page.evaluate(() => {
  const byId = (id) => document.getElementById(id), within = (id, what) => byId(id)?.querySelectorAll(what).length ?? 0;
  const drawings = [...document.querySelectorAll("svg:not([aria-hidden])")];
  return {
    rows: within("headline-table", "tbody tr"), curves: within("distributions", "path.curve"), edges: within("fabric", "path.edge"),
    boxes: within("fabric", ".node"), link_rows: within("link-table", "tbody tr"), timeline: within("timeline-figure", "path, rect, line"),
    traffic: within("traffic-charts", "path, rect, line"), flow_rows: within("flow-table", "tbody tr"), configuration: byId("configuration")?.textContent.length ?? 0,
    chosen: byId("result")?.options.length ?? 0, shares: within("share-figure", "rect"), share_rows: within("share-table", "tbody tr"),
    charts: within("charts", "figure"), points: within("table", "tr"), marks: within("charts", "circle"),
    sideways: document.documentElement.scrollWidth > innerWidth + 1,
    unlabelled: drawings.filter((drawing) => (drawing.getAttribute("aria-label") ?? "").length < 10).length, drawings: drawings.length,
    nameless: [...document.querySelectorAll("select, input, button")].filter((control) => !control.labels?.length && !control.getAttribute("aria-label")).length,
  };
});

// Ratio of luminances to the paper's: Web Content Accessibility Guidelines 2.2, 1.4.3 for texts, 1.4.11 for what is drawn (all colours of marks, and what stands for most).
const contrast = (page) => page.evaluate(() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = luminance(getComputedStyle(document.body).backgroundColor);
  const ratio = (colour) => { const ink = luminance(colour); return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); };
  const colourOf = (text) => { const node = document.createElement("i"); node.style.color = text; document.body.append(node); const { color } = getComputedStyle(node); node.remove(); return color; };
  const texts = ["body", ".note", "a", "th", "td", "td small", "figcaption", ".legend"].map((what) => document.querySelector(what)).filter(Boolean);
  const marks = Array.from({ length: 10 }, (_, i) => colourOf(`var(--mark-${i})`)), most = [...document.querySelectorAll(".scale rect:nth-of-type(40)")].map((node) => getComputedStyle(node).fill);
  return { text: Math.min(...texts.map((node) => ratio(getComputedStyle(node).color))), mark: Math.min(...[...marks, ...most].map(ratio)), paper };
});

// What would be hard to read: texts of pictures over each other, over bars or off the page; axes without a name; charts of nothing; numbers as nobody writes them.
const findFaults = (page) => page.evaluate(() => {
  const faults = [], all = (what, inside = document) => [...inside.querySelectorAll(what)];
  const boxOf = (node) => { const { left, right, top, bottom } = node.getBoundingClientRect(); return { left, right, top, bottom, name: node.textContent }; };
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  for (const svg of all("svg[role=img], svg[role=group]")) {
    const texts = all("text", svg).filter((node) => node.textContent.trim() !== "").map(boxOf), isScrolled = svg.closest(".scroll") !== null;
    texts.forEach((one, i) => texts.slice(i + 1).filter((other) => overlap(one, other)).forEach((other) => faults.push(`"${one.name}" over "${other.name}"`)));
    if (!isScrolled) { texts.filter(({ left, right }) => left < 0 || right > innerWidth).forEach(({ name }) => faults.push(`"${name}" is cut`)); }
    const bars = all("rect", svg).map(boxOf);
    all(".axis-name", svg).map(boxOf).forEach((text) => { if (bars.some((bar) => overlap(text, bar))) { faults.push(`"${text.name}" over a bar`); } });
    if (all(".domain", svg).length > 0 && all(".axis-name, .axis-title", svg).length === 0) { faults.push(`no name at an axis of: ${svg.getAttribute("aria-label").slice(0, 60)}`); }
  }
  for (const chart of all("#charts figure")) {
    const places = new Set(all("circle", chart).map((node) => node.getAttribute("cy"))), lowest = Math.max(...all(".tick", chart).map((node) => node.getBoundingClientRect().bottom));
    if (places.size === 1 && lowest - all("circle", chart)[0].getBoundingClientRect().bottom < 24) { faults.push(`nothing but 0: ${chart.textContent.slice(0, 30)}`); }
  }
  all("td, text").map((node) => node.textContent).filter((text) => /\de[+-]?\d|NaN|undefined|null|Infinity|^0 ps$/.test(text)).forEach((text) => faults.push(`not a number: ${text}`));
  all("#headline-table td, #link-table td, #share-table td").map((node) => node.textContent).filter((text) => /^\d{4,}/.test(text)).forEach((text) => faults.push(`without commas: ${text}`));
  return faults;
});

// A table that is wider than its place is moved by touch and by keys, and its first column stays.
const moveTables = (page) => page.evaluate(() => [...document.querySelectorAll("table")].filter((table) => table.offsetWidth > table.parentElement.clientWidth + 1).map((table) => {
  const box = table.parentElement, first = table.tBodies[0].rows[0].cells[0];
  box.scrollLeft = 100;
  const stays = Math.abs(first.getBoundingClientRect().left - box.getBoundingClientRect().left) < 1, moves = box.scrollLeft > 0;
  box.scrollLeft = 0;
  return { name: table.id, good: stays && moves && box.tabIndex === 0 };
}));

// With the Tab key alone to a box of the fabric; its tip comes and goes.
const useKeyboard = async (page, what) => {
  let presses = 0, reached = false;
  const passed = [];
  while (!reached && presses++ < MOST_TABS) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => `${document.activeElement?.nodeName} ${document.activeElement?.id} ${document.activeElement?.getAttribute("class") ?? ""}`);
    reached = / node$/.test(focused);
    passed.push(focused);
  }
  expect(reached, `${what}: the Tab key reaches a box of the fabric (${presses} times)${reached ? "" : ": " + passed.slice(0, 20)}`);
  const tip = page.locator("#tip");
  expect(await tip.isVisible() && (await tip.textContent()).length > 20, `${what}: its links are told there`);
  await page.keyboard.press("Escape");
  expect(await tip.isHidden(), `${what}: Escape takes that away`);
};

// Points at the fullest link.
const useMouse = async (page, what) => {
  const edge = page.locator("#fabric path.edge").last();
  await edge.scrollIntoViewIfNeeded();
  const [x, y] = await edge.evaluate((path) => {
    const at = path.getPointAtLength(path.getTotalLength() / 2), place = path.getScreenCTM();
    return [at.x * place.a + place.e, at.y * place.d + place.f];
  });
  await page.mouse.move(x, y);
  const text = await page.locator("#tip").textContent();
  expect(/gpu\d+ → gpu\d+, .*B/.test(text), `${what}: a link tells its flows: ${text.slice(0, 160).replace(/\n/g, " | ")}`);
  await page.mouse.move(0, 0);
};

// Every control changes what it is there for.
const useControls = async (page, what, timed) => {
  const rows = (await count(page)).rows;
  await page.getByLabel("all rows").check();
  expect((await count(page)).rows >= rows, `${what}: all rows are shown when asked for`);
  const links = page.locator("#link-table"), before = await links.textContent();
  await page.getByLabel("Colour").selectOption({ label: "deepest queue" });
  expect(await links.textContent() !== before, `${what}: another quantity changes the list of links`);
  const time = page.locator("#fabric-time");
  await page.getByLabel("Colour").selectOption({ label: "ECN marks" });
  expect(await time.isHidden(), `${what}: marks are not recorded over time`);
  await page.getByLabel("Colour").selectOption({ label: "deepest queue" });
  const policy = page.getByLabel("Details of policy"), note = await page.locator("#timeline-note").textContent();
  if (await policy.locator("option").count() > 1) {
    await policy.selectOption({ index: 1 });
    expect(await page.locator("#timeline-note").textContent() !== note, `${what}: another policy changes the timeline`);
  }
  expect(await time.isVisible() === timed, `${what}: time can be moved only where it was recorded`);
  if (timed) {
    const figure = await page.locator("#fabric-figure").innerHTML();
    await time.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await page.locator("#fabric-figure").innerHTML() !== figure, `${what}: moving time changes the picture`);
  }
};

const useReport = async (page, what, entry) => {
  await useMouse(page, what);
  await useKeyboard(page, what);
  await useControls(page, what, entry.timed);
  const tree = await page.locator("body").ariaSnapshot();
  for (const heading of ["Results", "Distributions", "Fabric", "Timeline", "Traffic", "Slow flows", "Configuration"]) {
    expect(tree.includes(`heading "${heading}"`), `${what}: a screen reader finds the heading ${heading}`);
  }
};

// Where several results are on a page, each is a choice.
const useResults = async (page, what) => {
  const title = await page.locator("#title").textContent(), table = await page.locator("#headline-table").textContent();
  await page.getByLabel("Result").selectOption({ index: 1 });
  expect(await page.locator("#title").textContent() !== title && await page.locator("#headline-table").textContent() !== table, `${what}: another result is shown when chosen`);
};

const useSweep = async (page, what) => {
  await page.locator("#charts figure").last().scrollIntoViewIfNeeded();
  const legend = await page.locator("#legend").boundingBox();
  expect(legend.y >= 0 && legend.y < page.viewportSize().height / 2, `${what}: the legend stays with the last chart`);
  const axis = page.getByLabel("Along the charts"), before = await page.locator("#charts").innerHTML();
  const last = await axis.locator("option").count() - 1, chosen = await axis.evaluate((node) => node.selectedIndex);
  await axis.selectOption({ index: chosen === last ? 0 : last });
  expect(await page.locator("#charts").innerHTML() !== before, `${what}: another axis changes the charts`);
};

const useStep = async (page, what) => {
  const figure = page.locator("#timeline-figure"), whole = await figure.innerHTML();
  await page.getByLabel("Show").selectOption({ index: 2 });
  const near = await figure.innerHTML();
  expect(near !== whole, `${what}: a part of the step can be seen larger`);
  await page.getByRole("slider", { name: "From" }).focus();
  await page.keyboard.press("PageUp");
  expect(await figure.innerHTML() !== near, `${what}: moving on changes the timeline`);
};

const printed = async (page, what) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const { text, mark, paper } = await contrast(page);
  expect(paper === 1 && text >= LEAST_CONTRAST && mark >= LEAST_MARK_CONTRAST, `${what}: dark on white where it is printed from a dark screen (${text.toFixed(1)}, ${mark.toFixed(1)})`);
  expect(await page.locator("nav, .controls").evaluateAll((nodes) => nodes.every((node) => getComputedStyle(node).display === "none")), `${what}: controls are not printed`);
  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.length > 10000 && pdf.subarray(0, 4).toString() === "%PDF", `${what}: prints (${pdf.length} bytes)`);
};

const look = async (browser, entry, view) => {
  const what = `${entry.name}, ${view.width} pixels, ${view.scheme}`, complaints = [], asked = [];
  const context = await browser.newContext({ viewport: { width: view.width, height: view.height }, colorScheme: view.scheme, isMobile: view.phone, hasTouch: view.phone });
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) { complaints.push(message.text()); } });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) { asked.push(request.url()); } });
  const inside = await context.newCDPSession(page);
  await inside.send("Performance.enable", { timeDomain: "threadTicks" });
  const begun = performance.now();
  await page.goto(pathToFileURL(path.join(folder, entry.page)).href);
  await page.waitForSelector(entry.ready, { state: "attached", timeout: 60000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
  const milliseconds = Math.round(performance.now() - begun);
  if (entry.timely) {
    const { metrics } = await inside.send("Performance.getMetrics"), busy = Math.round(1000 * metrics.find(({ name }) => name === "TaskDuration").value);
    expect(milliseconds < LONGEST_MS || busy < LONGEST_MS / 2, `${what}: can be used after ${milliseconds} ms, of which it computes ${busy}`); // others may use the machine
  }
  if (pictures) {
    await mkdir(pictures, { recursive: true });
    await page.screenshot({ path: path.join(pictures, `${entry.name}-${view.width}-${view.scheme}.png`), fullPage: true });
  }
  const found = await count(page);
  for (const [name, least] of Object.entries(entry.least)) {
    expect(found[name] >= least, `${what}: ${name} ${found[name]}, at least ${least}`);
  }
  expect(found.drawings > 0 && found.unlabelled === 0, `${what}: every picture has words for those who do not see it`);
  expect(found.nameless === 0, `${what}: every control has a name`);
  expect(!found.sideways, `${what}: nothing is wider than the page`);
  const { text, mark } = await contrast(page);
  expect(text >= LEAST_CONTRAST, `${what}: contrast of texts at least ${text.toFixed(1)}`);
  expect(mark >= LEAST_MARK_CONTRAST, `${what}: contrast of what is drawn at least ${mark.toFixed(1)}`);
  const faults = await findFaults(page);
  expect(faults.length === 0, `${what}: can be read ${[...new Set(faults)].slice(0, 5).join("; ")}`);
  const tables = await moveTables(page);
  expect(tables.every(({ good }) => good), `${what}: wide tables move, their first column stays ${JSON.stringify(tables)}`);
  if (view.use && entry.use === "report") { await useReport(page, what, entry); }
  if (view.use && entry.use === "results") { await useResults(page, what); }
  if (view.use && entry.use === "sweep") { await useSweep(page, what); }
  if (view.use && entry.use === "step") { await useStep(page, what); }
  if (view.print) { await printed(page, what); }
  expect(complaints.length === 0, `${what}: no complaint of the browser ${complaints.slice(0, 2)}`);
  expect(asked.length === 0, `${what}: asks no network ${asked.slice(0, 2)}`);
  await context.close();
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const entry of JSON.parse(await readFile(path.join(folder, "pages.json"), "utf-8"))) {
  for (const view of entry.views) { await look(browser, entry, view); }
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
