#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes pages and opens them in headless Chromium by Playwright (browser.mjs): every table and chart is drawn, nothing is complained of, controls act.

    browser.py PROGRAM CONFIGS FOLDER      FOLDER: where npm puts Playwright's driver, once; exit code 77 (skipped) where
                                           Chromium, Node.js or npm are not there, or npm cannot fetch it

The pages are those of a mixture-of-experts run with a recorded series, of a uniform all-to-all, of both together, of a sweep, of a sizing, of a
training step, and of 1,024 GPUs, which must stay under 5 MB and be of use within 2 seconds.
"""

import filecmp
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LARGEST_BYTES = 5_000_000
HERE = pathlib.Path(__file__).resolve().parent

DRAWN = "html[data-drawn=yes]"
REPORT = {"rows": 15, "curves": 1, "edges": 8, "boxes": 4, "link_rows": 10, "timeline": 8, "flow_rows": 10, "configuration": 500}
WIDE = {"width": 1200, "height": 900, "scheme": "light", "use": True, "print": True}
DARK = {"width": 1200, "height": 900, "scheme": "dark"}
PHONE = {"width": 390, "height": 844, "scheme": "light", "phone": True}
DARK_PHONE = {**PHONE, "scheme": "dark"}
SWEEP = """\
name: widths
topology: leaf-spine-100g.yaml
cluster: {racks: 16, gpus_used: 1, leaf_downlinks: 4, leaf_uplinks: 4}
traffic: {pattern: permutation, bytes: 256 KiB}
policies: [ecmp+none, adaptive+none]
sweep: {grid: {cluster.spines: [1, 2, 4], topology.nic.rate: [50 Gb/s, 100 Gb/s]}, seeds: 2}
"""


def fetch_driver(folder):
    """Playwright's driver as package-lock.json says; False if it cannot be had."""
    lock = folder / "package-lock.json"
    if lock.exists() and filecmp.cmp(lock, HERE / "package-lock.json", shallow=False) and (folder / "node_modules").exists():
        return True
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder / name)
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lock.unlink()
        print(f"npm cannot fetch Playwright: {done.stderr[-300:]}")
    return done.returncode == 0


def report(program, configuration, folder, name, *options):
    """The page of a configuration."""
    result, page = folder / f"{name}.h5", f"{name}.html"
    subprocess.run([program, "compare", configuration, "--quiet", "--output", result, *options], check=True, capture_output=True)
    subprocess.run([program, "report", result, "--quiet", "--output", folder / page], check=True)
    return page


def settings(*texts):
    return [word for text in texts for word in ("--set", text)]


def make_pages(program, configs, folder):
    collision = configs / "quickstart-collision.yaml"
    experts = report(program, collision, folder, "experts", *settings("traffic.tokens_per_gpu=16", "seeds=[1]", "record.interval=2 us"))
    uniform = report(program, configs / "all-to-all.yaml", folder, "uniform")
    large = report(program, collision, folder, "gpus-1024", *settings("traffic.tokens_per_gpu=1", "seeds=[1]", "cluster.racks=16", "cluster.spines=8",
                                                                    "traffic.expert_parallelism=256"), "--policy", "1")
    (folder / "widths.yaml").write_text(SWEEP, encoding="utf-8")
    subprocess.run([program, "sweep", folder / "widths.yaml", "--quiet", "--output", folder / "widths.h5"], check=True, capture_output=True)
    subprocess.run([program, "report", folder / "widths.h5", "--quiet", "--output", folder / "widths.html"], check=True)
    subprocess.run([program, "train", configs / "training-deepseek-v3.yaml", "--quiet", *settings(
        "seeds=2", "cluster.gpus_used=8", "traffic.expert_parallelism=8", "traffic.tokens_per_gpu=64", "training.sequence=64", "training.gpus=512",
        "training.pipeline_parallelism=16", "training.virtual_stages=2", "training.global_batch=2048", "policies=[ecmp+none, adaptive+spectrum_x]"),
                    "--output", folder / "step.html"], check=True, capture_output=True)
    subprocess.run([program, "train", configs / "training-dlrm-dcnv2.yaml", "--quiet", "--output", folder / "tables.html"], check=True, capture_output=True)
    subprocess.run([program, "size", configs / "size-quickstart.yaml", "--quiet", *settings("traffic.tokens_per_gpu=8", "size.finalists=2"),
                    "--output", folder / "size.h5"], check=True, capture_output=True)
    subprocess.run([program, "report", folder / "size.h5", "--quiet", "--output", folder / "size.html"], check=True)
    subprocess.run([program, "report", folder / "experts.h5", folder / "uniform.h5", "--quiet", "--output", folder / "two.html"], check=True)
    return [
        {"name": "experts", "page": experts, "ready": DRAWN, "use": "report", "timed": True, "least": {**REPORT, "curves": 12, "traffic": 260},
         "views": [WIDE, DARK, PHONE, DARK_PHONE]},
        {"name": "uniform", "page": uniform, "ready": DRAWN, "use": "report", "timed": False, "least": {**REPORT, "traffic": 4096}, "views": [WIDE]},
        {"name": "gpus-1024", "page": large, "ready": DRAWN, "timely": True, "least": {**REPORT, "timeline": 1024}, "views": [{**WIDE, "use": False, "print": False}, PHONE]},
        {"name": "two", "page": "two.html", "ready": DRAWN, "use": "results", "least": {"chosen": 2, **REPORT}, "views": [{**WIDE, "print": False}]},
        {"name": "sweep", "page": "widths.html", "ready": "#charts figure", "use": "sweep", "least": {"charts": 4, "marks": 24, "points": 13},
         "views": [WIDE, DARK, DARK_PHONE]},
        {"name": "size", "page": "size.html", "ready": "#charts figure", "use": "sweep", "least": {"charts": 4, "marks": 40, "points": 25},
         "views": [WIDE, DARK_PHONE]},
        {"name": "tables", "page": "tables.html", "ready": DRAWN, "use": "step", "least": {"shares": 6, "share_rows": 9, "timeline": 8}, "views": [WIDE, DARK_PHONE]},
        {"name": "step", "page": "step.html", "ready": DRAWN, "use": "step", "timely": True, "least": {"shares": 12, "share_rows": 9, "timeline": 200},
         "views": [WIDE, DARK, PHONE, DARK_PHONE]},
    ]


def main():
    program, configs, driver = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    missing = [name for name in ("chromium", "node", "npm") if not shutil.which(name)]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return SKIPPED
    if not fetch_driver(driver):
        return SKIPPED
    shutil.copy(HERE / "browser.mjs", driver / "browser.mjs") # so that it finds the driver beside it
    with tempfile.TemporaryDirectory(prefix="moefabric-report-") as name:
        folder = pathlib.Path(name)
        pages = make_pages(program, configs, folder)
        (folder / "pages.json").write_text(json.dumps(pages), encoding="utf-8")
        size = (folder / "gpus-1024.html").stat().st_size
        print(f"{'ok' if size < LARGEST_BYTES else 'FAILED'}: the page of 1,024 GPUs has {size} bytes", flush=True)
        done = subprocess.run(["node", driver / "browser.mjs", shutil.which("chromium"), folder], check=False)
        return 1 if size >= LARGEST_BYTES else done.returncode


sys.exit(main())
