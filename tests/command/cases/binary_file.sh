# SPDX-License-Identifier: GPL-3.0-or-later
printf 'name: x\n\000\001\377\376' > binary.yaml
moefabric run binary.yaml
