# SPDX-License-Identifier: GPL-3.0-or-later
# a comparison becomes a picture that is XML, with a bar for each policy and metric, and its values in words
set -e
draw="$SOURCE/tools/draw-comparison"
moefabric compare "$SOURCE/configs/incast.yaml" --set seeds=2 --quiet --json -o result.h5 > comparison.json
"$draw" --metric hot_rank.time --metric worst_queue --title 'a < b & c' comparison.json > picture.svg
"$draw" --metric hot_rank.time --metric worst_queue --title 'a < b & c' < comparison.json | cmp - picture.svg
python3 - << 'END'
import json
import xml.etree.ElementTree as tree

name = "{http://www.w3.org/2000/svg}"
root = tree.parse("picture.svg").getroot()
bars = [bar for bar in root.iter(name + "rect") if bar.get("class") == "bar"]
texts = [text.text for text in root.iter(name + "text")]
rows = {row["metric"]: row for row in json.load(open("comparison.json"))["metrics"]}
times = [policy["mean"] for policy in rows["hot_rank.time"]["policies"]]
widths = [float(bar.get("width")) for bar in bars[: len(times)]]
assert all(abs(width / widths[0] - time / times[0]) < 0.001 for width, time in zip(widths, times)), (widths, times)
assert max(float(bar.get("x")) + float(bar.get("width")) for bar in bars) < 760
bounds = [line for line in root.iter(name + "line") if line.get("class") == "bound"]
print(len(bars), "bars,", len(bounds), "bound;", texts[0])
END
for broken in '{}' 'no JSON' '{"metrics": []}'; do
    echo "$broken" | "$draw" && exit 1
done
"$draw" --metric no_such_metric comparison.json 2>&1 > picture.svg | cut -c 1-60
"$draw" no-such-file && exit 1
[ ! -s picture.svg ]
