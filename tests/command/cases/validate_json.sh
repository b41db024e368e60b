# SPDX-License-Identifier: GPL-3.0-or-later
moefabric validate "$SOURCE/configs/validation" --only 'V9b.[sr]*n*' --quiet --json > all.json
python3 - <<'END'
import json
report = json.load(open("all.json"))
rows = {row["id"]: row for row in report["rows"]}
single = rows["V9b.single.4KiB"]
assert single["published"] == 4.33792 and abs(single["simulated"] - 4.33792) < 1e-9 and single["verdict"] == "ok", single
assert single["unit"] == "us" and single["use"] == "prediction" and "uet-htsim" in single["source"], single
later = rows["V9b.round_robin"]
assert later["simulated"] is None and later["verdict"] == "not run" and later["needs"], later
assert report["ok"] + report["missed"] + report["not_run"] == len(rows) and report["not_run"] == 1, report
END
