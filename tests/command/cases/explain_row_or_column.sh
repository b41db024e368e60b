# SPDX-License-Identifier: GPL-3.0-or-later
# A row of the table, a group of rows, a column of result files, and a value.
moefabric explain 'rank time p99' && moefabric explain hot_rank && moefabric explain links/deepest_bytes && moefabric explain paper && moefabric explain mf-061
