#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads a result file of moefabric into pandas and into xarray, a line each, and asks it three questions.

    tools/example.py RESULT.h5

Debian: apt-get install python3-h5py python3-pandas python3-xarray python3-h5netcdf. Copy what you need.
"""

import sys

import h5py
import pandas
import xarray


def flows_of(path, run):
    """A table as a DataFrame: one column a dataset, its row numbers as the index."""
    return pandas.DataFrame({name: column[:] for name, column in h5py.File(path)[f"runs/{run}/flows"].items()}).set_index("flow")


def links_of(path, run):
    """The same as a Dataset: dimensions have names, columns have units and long_name in .attrs."""
    return xarray.open_dataset(path, group=f"runs/{run}/links", engine="h5netcdf")


def rack_matrix_of(path, run):
    """Payload from rack to rack, with dimensions source_rack and destination_rack."""
    return xarray.open_dataset(path, group=f"runs/{run}", engine="h5netcdf").rack_bytes


def series_of(path, run):
    """Links over time, with dimensions time_ps and link; None where nothing was recorded."""
    if "series" not in h5py.File(path)[f"runs/{run}"]:
        return None
    return xarray.open_dataset(path, group=f"runs/{run}/series", engine="h5netcdf")


def answer(path, run):
    """Prints how slow the slowest flows are, which link is busiest and who receives most."""
    print(run)
    flows = flows_of(path, run)
    measured = flows.slowdown[flows.slowdown > 0]
    print(f"  slow-down of {len(measured)} flows: median {measured.median():.4f}, p99 {measured.quantile(0.99):.4f}")

    links = links_of(path, run)
    busiest = links.isel(link=int(links.busy_ps.argmax()))
    print(f"  busiest link: {busiest.name.item().decode()}, {busiest.busy_ps.item()} {links.busy_ps.attrs['units']}")

    received = rack_matrix_of(path, run).sum("source_rack")
    if received.size:
        print(f"  rack that receives most: {int(received.argmax())}, {int(received.max())} B")

    series = series_of(path, run)
    if series is not None and "queue_bytes" in series and series.queue_bytes.size:
        deepest = series.queue_bytes.max("link")
        print(f"  deepest queue at the end of an interval: {int(deepest.max())} B, from {int(deepest.idxmax())} ps on")


def main():
    """Each run of the file."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with h5py.File(sys.argv[1]) as result:
        runs = list(result["runs"])
    for run in runs:
        answer(sys.argv[1], run)


if __name__ == "__main__":
    main()
