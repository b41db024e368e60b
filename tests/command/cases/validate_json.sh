# SPDX-License-Identifier: GPL-3.0-or-later
moefabric validate "$SOURCE/configs/validation" --only 'V9b.single.*' --quiet --json > run.json
moefabric validate "$SOURCE/configs/validation" --only V4.nccl.8x8 --quiet --json > later.json
python3 - <<'END'
import json
report = json.load(open("run.json"))
rows = {row["id"]: row for row in report["rows"]}
single = rows["V9b.single.4KiB"]
assert single["published"] == 4.33792 and abs(single["simulated"] - 4.33792) < 1e-9 and single["verdict"] == "ok", single
assert single["unit"] == "us" and single["use"] == "prediction" and "uet-htsim" in single["source"], single
assert single["reference_kind"] == "peer simulator", single
assert report["ok"] + report["missed"] + report["not_run"] == len(rows) and report["not_run"] == 0, report
report = json.load(open("later.json"))
later = report["rows"][0]
assert later["simulated"] is None and later["verdict"] == "not run" and later["needs"], later
assert len(report["rows"]) == report["not_run"] == 1, report
END
