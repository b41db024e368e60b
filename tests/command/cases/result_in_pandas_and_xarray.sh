# SPDX-License-Identifier: GPL-3.0-or-later
python3 -c 'import h5py, pandas, xarray, h5netcdf' 2>/dev/null || { echo "needs python3-h5py, python3-pandas, python3-xarray and python3-h5netcdf"; exit 77; }
moefabric compare "$SOURCE/configs/incast.yaml" --quiet --seed 1 --json --set 'record.interval=100 us' --set record.links=uplinks -o r.h5 > r.json
python3 "$SOURCE/tools/example.py" r.h5 > said
head -n 1 said
python3 - <<'END'
import json, re
import h5py

# the example says what the program says
said = open("said").read()
rows = {row["metric"]: row for row in json.load(open("r.json"))["metrics"]}
for index, policy in enumerate(("ecmp+none", "ecmp+dcqcn")):
    mine = re.search(re.escape(f"{policy}_seed1") + r"\n.*median ([0-9.]+), p99 ([0-9.]+)", said)
    for place, metric in ((1, "slowdown.p50"), (2, "slowdown.p99")):
        assert abs(float(mine[place]) - rows[metric]["policies"][index]["mean"]) < 1e-4, (policy, metric, said)
assert "deepest queue at the end of an interval: " in said and "busiest link: " in said and "receives most: 0," in said, said

# everything has a meaning; every dataset has a unit, and a scale for each dimension, as long as the dimension
def look(name, thing):
    assert "long_name" in thing.attrs, name
    if isinstance(thing, h5py.Dataset):
        assert "units" in thing.attrs, name
        for axis, dimension in enumerate(thing.dims):
            if "REFERENCE_LIST" not in thing.attrs and "CLASS" not in thing.attrs:
                assert len(dimension) == 1 and dimension[0].shape == (thing.shape[axis],), name
with h5py.File("r.h5") as result:
    result.visititems(look)
    run = result["runs"][list(result["runs"])[0]]
    assert list(run["flows/flow"][:]) == list(range(len(run["flows/flow"])))
    times = run["series/time_ps"][:]
    assert times[0] == 0 and times[1] == 100_000_000, times
END
