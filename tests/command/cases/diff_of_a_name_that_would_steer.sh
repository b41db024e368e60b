# SPDX-License-Identifier: GPL-3.0-or-later
# Configurations of results come from anywhere: what would steer a terminal is shown as "?".
cp "$SOURCE/configs/single-flow.yaml" "$SOURCE"/topologies/*.yaml .
sed -i 's/^name:.*/name: "bbbbbbbbbbbb"/' single-flow.yaml
moefabric run single-flow.yaml -q -o first.h5 >/dev/null
python3 - <<'END'
content = open("first.h5", "rb").read()
assert b'bbbbbbbbbbbb' in content
quoted = b'"bbbbbbbbbbbb"' in content
open("second.h5", "wb").write(content.replace(b'"bbbbbbbbbbbb"', b'"\\e[31mRED\\a "') if quoted else content.replace(b'bbbbbbbbbbbb', b'"\\e[31m\\a "'))
END
moefabric diff first.h5 second.h5 | grep '^name' | cat -v
