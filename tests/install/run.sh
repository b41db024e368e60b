#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs below an empty folder; nothing may be written outside of it, and the program must find what it brought along.
#     run.sh BUILD PREFIX
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
before=$(find "$2/bin" "$2/share" -maxdepth 2 2>/dev/null | sort | cksum)
DESTDIR=$folder meson install -C "$1" --no-rebuild --quiet
[ "$before" = "$(find "$2/bin" "$2/share" -maxdepth 2 2>/dev/null | sort | cksum)" ] || { echo "something was written below $2"; exit 1; }

# every line of meson's own log is below the folder
outside=$(grep -v "^#" "$1/meson-logs/install-log.txt" | grep -v "^$folder/" || true)
[ -z "$outside" ] || { echo "written outside of the folder: $outside"; exit 1; }

cd "$folder$2"
find . -type f -o -type l | sed 's/-[^/]*\.yaml$/-NAME.yaml/' | sort -u | sed 's/^/installed: /'
for file in bin/moefabric share/man/man1/moefabric.1 share/bash-completion/completions/moefabric.bash share/zsh/site-functions/_moefabric \
    share/moefabric/topologies/leaf-spine-100g.yaml; do
    [ -s "$file" ] || { echo "missing: $file"; exit 1; }
done

# it runs from any folder
mkdir "$folder/empty"
cd "$folder/empty"
printf 'name: a\ntopology: leaf-spine-100g.yaml\ntraffic: {pattern: single, source: 0, destination: 127, bytes: 1 MB}\npolicies: [ecmp+none]\n' > a.yaml
"$folder$2/bin/moefabric" run a.yaml --quiet -o a.h5 > table
ls
