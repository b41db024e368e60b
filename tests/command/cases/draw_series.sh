# SPDX-License-Identifier: GPL-3.0-or-later
# series become a picture that is XML, with a line for each link and quantity that was asked for
set -e
draw="$SOURCE/tools/draw-series"
moefabric run "$SOURCE/configs/incast.yaml" --policy 2 --set 'record={interval: 50 us, links: [to_hosts]}' --quiet --json --series series.csv -o result.h5 > /dev/null
"$draw" --only '* gpu0' --title 'a < b & c' series.csv > picture.svg
"$draw" --only '* gpu0' --title 'a < b & c' < series.csv | cmp - picture.svg
"$draw" --quantity marks --only '* gpu?' series.csv > marks.svg
python3 - << 'END'
import xml.etree.ElementTree as tree

name = "{http://www.w3.org/2000/svg}"
for picture in ("picture.svg", "marks.svg"):
    root = tree.parse(picture).getroot()
    lines = list(root.iter(name + "polyline"))
    assert all(0 <= float(value) <= 2000 for line in lines for point in line.get("points").split() for value in point.split(","))
    print(len(lines), "lines of", {len(line.get("points").split()) for line in lines}, "points;", next(root.iter(name + "text")).text)
END
echo 'no,series' | "$draw" && exit 1
"$draw" --quantity nothing series.csv && exit 1
"$draw" --only nobody series.csv && exit 1
"$draw" no-such-file && exit 1
exit 0
