# SPDX-License-Identifier: GPL-3.0-or-later
moefabric reference > reference.md
# every command, key, error number and metric has its place
for name in $(moefabric --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^### \`moefabric $name" reference.md || echo "no command $name"
    [ "$(moefabric "$name" --help | sed -n '/^examples:/,$p' | grep -c '^  moefabric\|^  source')" -ge 2 ] || echo "$name: less than two examples"
done
moefabric reference nonsense
echo "exit $?"
