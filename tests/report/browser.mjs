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
const LONGEST_MS = 2000, MOST_TABS = 80, LEAST_CONTRAST = 4.5;
let failed = 0;

const expect = (condition, text) => {
  console.log((condition ? "ok: " : "FAILED: ") + text);
  failed += !condition;
};

// What a page holds, counted inside it.
const count = (page) => page.evaluate(() => {
  const byId = (id) => document.getElementById(id), within = (id, what) => byId(id)?.querySelectorAll(what).length ?? 0;
  const drawings = [...document.querySelectorAll("svg")];
  return {
    rows: within("headline-table", "tbody tr"), curves: within("distributions", "path.curve"), edges: within("fabric", "path.edge"),
    boxes: within("fabric", ".node"), link_rows: within("link-table", "tbody tr"), timeline: within("timeline-figure", "path, rect, line"),
    traffic: within("traffic-charts", "path, rect, line"), flow_rows: within("flow-table", "tbody tr"), configuration: byId("configuration")?.textContent.length ?? 0,
    shares: within("share-figure", "rect"), share_rows: within("share-table", "tbody tr"),
    charts: within("charts", "figure"), points: within("table", "tr"), marks: within("charts", "circle"),
    sideways: document.documentElement.scrollWidth > innerWidth + 1,
    unlabelled: drawings.filter((drawing) => (drawing.getAttribute("aria-label") ?? "").length < 10).length, drawings: drawings.length,
    nameless: [...document.querySelectorAll("select, input, button")].filter((control) => !control.labels?.length && !control.getAttribute("aria-label")).length,
  };
});

// Ratio of luminances of text and paper: Web Content Accessibility Guidelines 2.2, 1.4.3.
const contrast = (page) => page.evaluate(() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = luminance(getComputedStyle(document.body).backgroundColor);
  return Math.min(...["body", ".note", "a", "th", "td", "td small", "figcaption"].map((what) => document.querySelector(what)).filter(Boolean).map((node) => {
    const ink = luminance(getComputedStyle(node).color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  }));
});

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
  const policy = page.getByLabel("Details of policy"), note = await page.locator("#timeline-note").textContent();
  if (await policy.locator("option").count() > 1) {
    await policy.selectOption({ index: 1 });
    expect(await page.locator("#timeline-note").textContent() !== note, `${what}: another policy changes the timeline`);
  }
  const time = page.locator("#fabric-time");
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

const useSweep = async (page, what) => {
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
  await page.emulateMedia({ media: "print" });
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
  const begun = performance.now();
  await page.goto(pathToFileURL(path.join(folder, entry.page)).href);
  await page.waitForSelector(entry.ready, { state: "attached", timeout: 60000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
  const milliseconds = Math.round(performance.now() - begun);
  if (entry.timely) {
    expect(milliseconds < LONGEST_MS, `${what}: can be used after ${milliseconds} ms`);
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
  const ratio = await contrast(page);
  expect(ratio >= LEAST_CONTRAST, `${what}: contrast of texts at least ${ratio.toFixed(1)}`);
  if (view.use && entry.use === "report") { await useReport(page, what, entry); }
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
