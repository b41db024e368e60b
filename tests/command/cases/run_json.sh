# SPDX-License-Identifier: GPL-3.0-or-later
moefabric run --quiet --json "$SOURCE/configs/single-flow.yaml" > result.json && python3 -m json.tool result.json > /dev/null
