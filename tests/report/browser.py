#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens reports in headless Chromium and looks whether every table and chart is drawn, nothing is complained of, and controls act.

    browser.py PROGRAM CONFIGS      exit code 77 (skipped) where there is no Chromium

The pages are those of a mixture-of-experts run with a recorded series, of a uniform all-to-all, and of 1,024 GPUs, which must
stay under 5 MB and be drawn in under 2 seconds.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LARGEST_BYTES = 5_000_000
LONGEST_MS = 2000

# Acts as a reader would, and writes what it finds to an element that --dump-dom shows.
PROBE = """
<script>
{
  const seen = [], say = (name, value) => seen.push(`${name}=${value}`), byId = (id) => document.getElementById(id);
  const marks = (id) => byId(id).querySelectorAll("path, rect, line").length;
  say("drawn", document.documentElement.dataset.drawn);
  say("milliseconds", Math.round(performance.now()));
  say("rows", byId("headline-table").tBodies[0].rows.length);
  byId("all-rows").click();
  say("all_rows", byId("headline-table").tBodies[0].rows.length);
  say("curves", document.querySelectorAll("#distributions path.curve").length);
  say("edges", document.querySelectorAll("#fabric path.edge").length);
  say("boxes", document.querySelectorAll("#fabric .node").length);
  say("link_rows", byId("link-table").tBodies[0].rows.length);
  say("timeline", marks("timeline-figure"));
  say("traffic", marks("traffic-charts"));
  say("flow_rows", byId("flow-table").tBodies[0].rows.length);
  say("configuration", byId("configuration").textContent.length);
  const pictures = [...document.querySelectorAll("svg")];
  say("pictures", pictures.length);
  say("labelled", pictures.filter((picture) => picture.getAttribute("aria-label").length > 20).length);
  const node = document.querySelector("#fabric .node");
  node.focus();
  say("tip_on_focus", !byId("tip").hidden && byId("tip").textContent.length > 20);
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  say("tip_after_escape", !byId("tip").hidden);
  const before = byId("link-table").textContent, choose = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("change")); };
  choose("fabric-quantity", 1);
  say("quantity_acts", byId("link-table").textContent !== before);
  const note = byId("timeline-note").textContent, many = byId("policy").options.length > 1;
  if (many) { choose("policy", 1); }
  say("policy_acts", !many || byId("timeline-note").textContent !== note);
  const timed = !byId("fabric-time-choice").hidden;
  say("timed", timed);
  if (timed) {
    const whole = byId("fabric-figure").innerHTML;
    byId("fabric-time").value = 3;
    byId("fabric-time").dispatchEvent(new Event("input"));
    say("time_acts", byId("fabric-figure").innerHTML !== whole && byId("fabric-time-text").textContent.includes(" to "));
  }
  say("sideways", document.documentElement.scrollWidth > innerWidth + 1);
  const result = document.createElement("pre");
  result.id = "probe";
  result.textContent = seen.join(";");
  document.body.append(result);
}
</script>
"""

failures = []


def expect(condition, text):
    print(("ok: " if condition else "FAILED: ") + text)
    if not condition:
        failures.append(text)


def simulate(program, configs, name, folder, *options):
    """The report of a configuration, as a path."""
    result, page = folder / f"{name}.h5", folder / f"{name}.html"
    subprocess.run([program, "compare", configs / f"{name}.yaml", "--quiet", "--output", result, *options], check=True, capture_output=True)
    subprocess.run([program, "report", result, "--quiet", "--output", page], check=True)
    return page


def look(chromium, page, folder, width, dark):
    """What the probe found, and what the browser complained of."""
    probed = folder / "probed.html"
    probed.write_text(page.read_text(encoding="utf-8") + PROBE, encoding="utf-8")
    command = [
        chromium, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", f"--window-size={width},900",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--enable-logging=stderr", "--v=0", "--dump-dom", probed.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="probe">([^<]*)</pre>', done.stdout)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return dict(entry.split("=", 1) for entry in found.group(1).split(";")) if found else {}, complaints


def check_page(chromium, page, folder, width, dark, wanted):
    what = f"{page.stem}, {width} pixels, {'dark' if dark else 'light'}"
    found, complaints = look(chromium, page, folder, width, dark)
    expect(found.get("drawn") == "yes", f"{what}: drawn to the end")
    expect(not complaints, f"{what}: no complaint of the browser {complaints[:2]}")
    for name, least in wanted.items():
        if isinstance(least, int):
            expect(int(found.get(name, -1)) >= least, f"{what}: {name} {found.get(name)}, at least {least}")
        else:
            expect(found.get(name) == least, f"{what}: {name} {found.get(name)}, should be {least}")
    expect(found.get("labelled") == found.get("pictures"), f"{what}: every picture has words for those who do not see it")
    return found


ALWAYS = {
    "rows": 15, "curves": 1, "edges": 8, "boxes": 4, "link_rows": 10, "timeline": 8, "flow_rows": 10, "configuration": 500,
    "tip_on_focus": "true", "tip_after_escape": "false", "quantity_acts": "true", "policy_acts": "true", "sideways": "false",
}


def main():
    program, configs = sys.argv[1], pathlib.Path(sys.argv[2])
    chromium = shutil.which("chromium")
    if not chromium:
        print("chromium is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="moefabric-report-") as name:
        folder = pathlib.Path(name)
        experts = simulate(program, configs, "quickstart-collision", folder, "--set", "traffic.tokens_per_gpu=16", "--set", "seeds=[1]", "--set", "record.interval=2 us")
        for width, dark in ((1200, False), (1200, True), (420, False)):
            found = check_page(chromium, experts, folder, width, dark, {**ALWAYS, "curves": 12, "traffic": 260, "timed": "true", "time_acts": "true"})
            expect(int(found.get("all_rows", 0)) > int(found.get("rows", 0)), "all rows are more than the first ones")
        uniform = simulate(program, configs, "all-to-all", folder)
        check_page(chromium, uniform, folder, 1200, False, {**ALWAYS, "traffic": 4096, "timed": "false"})
        large = simulate(program, configs, "quickstart-collision", folder, "--set", "traffic.tokens_per_gpu=1", "--set", "seeds=[1]", "--set", "cluster.racks=16",
                         "--set", "cluster.spines=8", "--set", "traffic.expert_parallelism=256", "--policy", "1")
        expect(large.stat().st_size < LARGEST_BYTES, f"the page of 1,024 GPUs has {large.stat().st_size} bytes")
        found = check_page(chromium, large, folder, 1200, False, {**ALWAYS, "timeline": 1024})
        expect(int(found.get("milliseconds", LONGEST_MS)) < LONGEST_MS, f"the page of 1,024 GPUs is drawn after {found.get('milliseconds')} ms")
    return 1 if failures else 0


sys.exit(main())
