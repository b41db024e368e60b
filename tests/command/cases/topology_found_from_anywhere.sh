# SPDX-License-Identifier: GPL-3.0-or-later
# A configuration in any folder names a topology that comes with the program.
cat > mine.yaml <<END
name: mine
topology: leaf-spine-100g.yaml
traffic: {pattern: single, source: 0, destination: 1, bytes: 4 KiB}
policies: [ecmp+none]
END
moefabric run mine.yaml --quiet --output result.h5 | head -n 1
moefabric check mine.yaml --set topology=leaf-spine-200g.yaml --set traffic.pattern=singel
