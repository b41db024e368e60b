# SPDX-License-Identifier: GPL-3.0-or-later
# recordings of inference servers become counts and traces that gates read; damaged ones and code in them are refused
set -e
python3 -c 'import numpy' 2> /dev/null || { echo "NumPy is missing"; exit 77; }
convert="$SOURCE/tools/convert-expert-distribution"
python3 - << 'END'
import pickle, sys, types, zipfile
import numpy as np

# the layout of torch.save without PyTorch: modules of its names, so that pickle refers to them
torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
sys.modules["torch"], sys.modules["torch._utils"] = torch, utils
class IntStorage: pass
IntStorage.__module__ = "torch"; torch.IntStorage = IntStorage
def _rebuild_tensor_v2(*arguments): pass
_rebuild_tensor_v2.__module__ = "torch._utils"; utils._rebuild_tensor_v2 = _rebuild_tensor_v2

class Tensor:
    def __init__(self, array): self.array = np.ascontiguousarray(array, dtype="<i4")
    def __reduce__(self):
        stride = tuple(step // 4 for step in self.array.strides)
        return _rebuild_tensor_v2, (self, 0, self.array.shape, stride, False, {})

class Storage:
    def __init__(self, array): self.array = array

def save(path, content):
    arrays = []
    class Pickler(pickle.Pickler):
        def persistent_id(self, thing):
            if isinstance(thing, Storage):
                arrays.append(thing.array)
                return "storage", IntStorage, str(len(arrays) - 1), "cpu", thing.array.size
        def reducer_override(self, thing):
            if isinstance(thing, Tensor):
                stride = tuple(step // 4 for step in thing.array.strides)
                return _rebuild_tensor_v2, (Storage(thing.array), 0, thing.array.shape, stride, False, {})
            return NotImplemented
    import io
    stream = io.BytesIO(); Pickler(stream, 2).dump(content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("recording/data.pkl", stream.getvalue())
        archive.writestr("recording/byteorder", "little")
        for number, array in enumerate(arrays):
            archive.writestr(f"recording/data/{number}", array.tobytes())

# 3 steps, 2 layers, 4 experts; the last step of the ring was never filled
counts = np.arange(24).reshape(3, 2, 4); counts[2] = 0
save("stat.pt", dict(rank=0, logical_count=Tensor(counts), average_utilization_rate_over_window=None))
mapping = np.array([[0, 1, 2, 3, 0, 1], [3, 2, 1, 0, 3, -1]])  # replicas; one slot is empty
records = [[dict(forward_pass_id=number, rank=rank, global_physical_count=Tensor(np.full((2, 6), 10 * number + rank)))
            for number in range(2)] for rank in range(2)]
for rank in range(2):
    save(f"passes-{rank}.pt", dict(records=records[rank], last_physical_to_logical_map=Tensor(mapping)))
picks = np.full((2, 5, 8), -1)
picks[1, :, 0] = [0, 1, 2, 3, 4]; picks[1, :, 1] = [1, 0, 0, 1, 2]; picks[1, 2, 1] = -1
save("tokens.pt", dict(records=[dict(forward_pass_id=0, rank=0, topk_ids_of_layer=Tensor(picks))],
                       last_physical_to_logical_map=Tensor(mapping)))
np.savez("window.npz", expert_load_window=np.ones((2, 2, 6), dtype="<i8"), physical_to_logical_map=mapping)
np.save("plain.npy", counts[0]); np.save("wrong.npy", -counts[0])
class Evil:
    def __reduce__(self): return print, ("executed",)
save("evil.pt", dict(logical_count=Evil()))
data = open("stat.pt", "rb").read(); open("cut.pt", "wb").write(data[:-30])
END
python3 "$convert" stat.pt -o counts.npy
python3 "$convert" stat.pt -o counts.csv
python3 "$convert" passes-0.pt passes-1.pt -o passes.npy
python3 "$convert" tokens.pt --trace -o trace.npy
python3 "$convert" window.npz -o window.npy
python3 "$convert" plain.npy -o again.npy
python3 - << 'END'
import numpy as np
for name in "counts", "passes", "window", "trace":
    print(name, np.load(name + ".npy").tolist())
END
cat counts.csv
for wrong in wrong.npy evil.pt cut.pt missing.pt; do
    python3 "$convert" "$wrong" -o wrong-out.npy && exit 1
done
python3 "$convert" stat.pt --trace -o wrong-out.npy && exit 1
[ ! -e wrong-out.npy ]
cat > gate.yaml << END
name: converted
topology: gb200-nvl72-spectrumx.yaml
cluster: {racks: 1, gpus_used: 4}
traffic: {gate: measured, tokens_per_gpu: 100, algorithm: direct}
model: {hidden: 128, experts: 4, top_k: 2}
policies: [ecmp+none]
END
moefabric check gate.yaml --set gate.file=counts.npy --set gate.layer=1 --set gate.micro_batches=2 --json > check.json
moefabric check gate.yaml --set gate.file=counts.csv --set gate.layer=1 --json > check.json
echo "gates read them"
