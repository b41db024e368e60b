# SPDX-License-Identifier: GPL-3.0-or-later
# The nearest folder configs/validation from here upwards, else the one of the source.
moefabric validate --only V3.slowdown.4on4 --quiet
mkdir -p configs/validation far/below
sed -e '/^  - {id: V3.slowdown.4on4,/!{/^  - /d}' -e 's/V3.slowdown.4on4/mine/' "$SOURCE/configs/validation/ecmp-by-hash.yaml" > configs/validation/one.yaml
cd far/below || exit
moefabric validate --quiet
rm ../../configs/validation/one.yaml
moefabric validate --quiet
echo "ended with $?"
moefabric validate no-such-folder
