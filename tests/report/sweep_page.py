#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens the pages of a sweep and of a sizing in headless Chromium: is everything drawn, and is the Pareto front what a count by hand gives?

    sweep_page.py PROGRAM CONFIGS      exit code 77 (skipped) where there is no Chromium
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

# Acts as a reader would, and writes what it finds to an element that --dump-dom shows.
PROBE = """
<script>
{
  const count = (where) => document.querySelectorAll(where).length, byId = (id) => document.getElementById(id);
  const seen = { charts: count("#charts svg"), rows: count("#table tr"), marks: count("#pareto circle"), front: count("#pareto circle.on-front"),
    line: document.querySelector("#pareto path.front")?.getAttribute("d").length ?? 0, ways: count("#parallel path.on-front, #parallel path.beaten"),
    axes: count("#parallel .axis-title"), unlabelled: [...document.querySelectorAll("#trade svg")].filter((svg) => svg.getAttribute("aria-label").length < 20).length,
    x: byId("pareto-x").value, y: byId("pareto-y").value };
  const before = byId("pareto").innerHTML, choices = byId("pareto-y").options;
  byId("pareto-y").value = [...choices].map((option) => option.value).find((value) => value !== seen.y);
  byId("pareto-y").dispatchEvent(new Event("change"));
  seen.acts = byId("pareto").innerHTML !== before;
  seen.sideways = document.documentElement.scrollWidth > innerWidth + 1;
  const result = document.createElement("pre");
  result.id = "probe";
  result.textContent = JSON.stringify(seen);
  document.body.append(result);
}
</script>
"""

failures = []


def expect(condition, text):
    print(("ok: " if condition else "FAILED: ") + text)
    if not condition:
        failures.append(text)


def look(chromium, page, folder):
    """What the probe found, and what the browser complained of."""
    probed = folder / "probed.html"
    probed.write_text(page.read_text(encoding="utf-8") + PROBE, encoding="utf-8")
    command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--window-size=1200,900",
               "--enable-logging=stderr", "--v=0", "--dump-dom", probed.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="probe">([^<]*)</pre>', done.stdout)
    return json.loads(found.group(1)) if found else {}, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def means(page):
    """The means of every metric of every result of a page."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    points = json.loads(data.group(1))["sweep"]["points"]
    return [{name: metric["mean"] for name, metric in policy["metrics"].items()} for point in points for policy in point["policies"]]


def count_front(results, x, y):
    """Results that no other one beats in both, where less is better."""
    return sum(
        not any(other[x] <= one[x] and other[y] <= one[y] and (other[x] < one[x] or other[y] < one[y]) for other in results) for one in results
    )


def check_page(chromium, page, folder, axes):
    found, complaints = look(chromium, page, folder)
    results = means(page)
    what = page.stem
    expect(not complaints, f"{what}: no complaint of the browser {complaints[:2]}")
    drawn = [result for result in results if found.get("x") in result and found.get("y") in result]
    expect(found.get("marks") == len(drawn) > 0, f"{what}: {found.get('marks')} marks of {len(results)} results")
    expect(found.get("ways") == len(results), f"{what}: {found.get('ways')} lines in parallel coordinates")
    if found:
        front = count_front(drawn, found["x"], found["y"])
        expect(found["front"] == front, f"{what}: {found['front']} on the front of {found['x']} and {found['y']}, by hand {front}")
        expect(found["line"] > 0 and found["axes"] >= axes and found["unlabelled"] == 0, f"{what}: a line along the front, {found['axes']} axes, words for all")
        expect(found["charts"] > 0 and found["rows"] == len(results) + 1, f"{what}: {found['charts']} charts, {found['rows']} rows")
        expect(found["acts"] and not found["sideways"], f"{what}: the choice of metrics acts, nothing sticks out")


def main():
    program, configs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    chromium = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
    if chromium is None:
        print("skipped: there is no Chromium")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="moefabric-sweep-page-") as name:
        folder = pathlib.Path(name)
        for command, config, options, axes in (
            ("sweep", "sweep-oversubscription", ["--set", "traffic.bytes=4 KiB", "--set", "sweep.seeds=1"], 4),
            ("size", "size-quickstart", ["--set", "traffic.tokens_per_gpu=8", "--set", "size.finalists=2"], 5),
        ):
            result, page = folder / f"{config}.h5", folder / f"{config}.html"
            subprocess.run([program, command, configs / f"{config}.yaml", "--quiet", "--output", result, *options], check=True, capture_output=True)
            subprocess.run([program, "report", result, "--quiet", "--output", page], check=True)
            check_page(chromium, page, folder, axes)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
