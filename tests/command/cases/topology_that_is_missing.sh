# SPDX-License-Identifier: GPL-3.0-or-later
printf 'name: x\ntopology: nowhere.yaml\ntraffic: {pattern: all_to_all, bytes: 1 MiB}\n' > configuration.yaml
moefabric check configuration.yaml
