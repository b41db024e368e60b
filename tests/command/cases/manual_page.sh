# SPDX-License-Identifier: GPL-3.0-or-later
command -v mandoc > found || { echo "needs mandoc"; exit 77; }
moefabric reference man > moefabric.1
mandoc -T lint -W warning moefabric.1 | grep -v "missing date"
mandoc -T utf8 moefabric.1 | col -b > text
for name in $(moefabric --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^   moefabric $name" text || echo "no section of $name"
done
grep -A 3 '^EXIT STATUS' text
