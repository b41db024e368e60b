# SPDX-License-Identifier: GPL-3.0-or-later
moefabric run --quiet --output r.h5 "$SOURCE/configs/single-flow.yaml" >/dev/null
# a commit of 12 digits, or the version where there is no git; and a compiler with its version
grep -Ec '"commit": "([0-9a-f]{12}(-dirty)?|[0-9]+\.[0-9]+\.[0-9]+)",' r.run.json
grep -Ec '"compiler": ".*(GCC|[Cc]lang) .*[0-9]' r.run.json
