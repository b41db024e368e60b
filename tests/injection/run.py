#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program while what it stands on fails: memory, disks, signals. See tests/README.md, "Injected failures".

    run.py memory  PROGRAM SHIM [EVERY]    each allocation fails once, then it and all after it (EVERY: only each so-manieth)
    run.py disk    PROGRAM SHIM [EVERY]    each write, read, open, fsync, rename and close of a file fails
    run.py signals PROGRAM SHIM [ROUNDS]   SIGINT, SIGTERM and SIGKILL at moments drawn anew (seed: MOEFABRIC_INJECT_SEED)

MOEFABRIC_INJECT_ONLY=NAME[,NAME…] takes only these of the command lines.

What must hold each time: no crash; exit code 0 only if what was to be written is there, whole; else a message and one of the
documented exit codes; under the final name the older file, or the new one, whole, never a part; no temporary file (.part) is left,
but after SIGKILL and where memory ran out; a sweep that is called again comes to the same file as one that was left alone. Speaks TAP.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
CONFIGS = SOURCE / "configs"
SECONDS = 60
CODES = (0, 1, 2, 3, 4, 5, 130)

OLD = b"an older file"


SWEEP = """\
name: out
topology: leaf-spine-100g.yaml
cluster: {racks: 4, gpus_used: 1, leaf_downlinks: 2, spines: 2}
traffic: {pattern: single, source: 0, destination: 3, bytes: 16 KiB}
policies: [ecmp+none]
sweep: {grid: {traffic.bytes: [16 KiB, 64 KiB]}}
"""

SIZE = """\
name: out
topology: leaf-spine-100g.yaml
cluster: {racks: 4}
traffic: {pattern: single, source: 0, destination: 3, bytes: 16 KiB}
policies: [ecmp+none]
size: {all_to_all_p99: 1 ms, grid: {design.oversubscription: [1, 2]}}
"""


class Work:
    """A command line, what it writes, and the command line that reads what it writes where a signal cuts it short; called again, a
    resumable one goes on."""

    def __init__(self, name, arguments, outputs=(), reads=None, resumable=False):
        self.name, self.arguments, self.outputs, self.reads, self.resumable = name, arguments, outputs, reads, resumable


def settings(*texts):
    return [word for text in texts for word in ("--set", text)]


def works(inputs):
    """What is run: readers of every kind of file, and every writer. inputs is a folder with files to read."""
    flow, node, result = CONFIGS / "single-flow.yaml", SOURCE / "topologies" / "hgx-h200.yaml", inputs / "result.h5"
    small = [*settings("traffic.bytes=64KiB"), "--threads", "1", "--quiet"]
    alone = ["--threads", "1", *settings("cluster.racks=1", "policies=[adaptive+none]")]
    shown = ["show", "out.h5"]
    step = settings("cluster.gpus_used=8", "traffic.expert_parallelism=8", "traffic.tokens_per_gpu=16", "training.sequence=16",
                    "training.gpus=64", "training.pipeline_parallelism=8", "training.virtual_stages=1", "training.schedule=1f1b",
                    "training.global_batch=64", "seeds=1", "policies=[ecmp+none]")
    return [
        Work("check", ["check", flow, "--threads", "1"]),
        Work("check-gate", ["check", CONFIGS / "measured-gate.yaml", "--threads", "1"]),
        Work("topology", ["topology", SOURCE / "topologies" / "leaf-spine-400g.yaml"]),
        Work("run", ["run", flow, *small, "-o", "out.h5"], ["out.h5"], shown),
        Work("series", ["run", flow, *small, "--set", "record.interval=1us", "--set", "record.links=uplinks",
                        "-o", "out.h5", "--series", "out.csv"], ["out.h5", "out.csv"], shown),
        Work("show", ["show", result]),
        Work("export", ["export", result, "--folder", "out", "--quiet"], ["out"]),
        Work("report", ["report", result, "-o", "out.html", "--quiet"], ["out.html"]),
        Work("diff", ["diff", result, result]),
        Work("gate", ["gate", CONFIGS / "measured-gate.yaml"]),
        Work("perf", ["perf", "alltoall", node, *alone, "--against", inputs / "size.log"]),
        Work("calibrate", ["calibrate", node, inputs / "node.log", *alone, "-o", "out.yaml"], ["out.yaml"]),
        Work("place", ["place", CONFIGS / "placement-replicas.yaml", "--quiet", *settings("traffic.tokens_per_gpu=4"), "--steps", "20",
                       "--batches", "1", "-o", "out.csv"], ["out.csv"],
             ["check", CONFIGS / "placement-replicas.yaml", *settings("placement.redundant_experts=0", "placement.kind=file", "placement.file=@FOLDER@/out.csv")]),
        Work("train", ["train", CONFIGS / "training-deepseek-v3.yaml", "--quiet", "--threads", "1", *step, "-o", "out.json"], ["out.json"]),
        Work("sweep", ["sweep", inputs / "sweep.yaml", "--quiet", "--threads", "1", "-o", "out.h5"], ["out.h5"], shown, resumable=True),
        Work("size", ["size", inputs / "size.yaml", "--quiet", "--threads", "1", "-o", "out.h5"], ["out.h5"], shown),
        Work("sweep-report", ["report", inputs / "sweep.h5", "-o", "out.html", "--quiet"], ["out.html"]),
        Work("sweep-export", ["export", inputs / "sweep.h5", "--folder", "out", "--quiet"], ["out"]),
    ]


class Bench:
    """Where the program runs, and what came of it."""

    def __init__(self, program, shim):
        self.program, self.shim = program, shim
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="moefabric-inject-"))
        self.wholes = {}
        self.runs = self.refusals = 0
        self.faults = []

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LD_LIBRARY_PATH")}
        return {**kept, "LC_ALL": "C", "LD_PRELOAD": str(self.shim), **more}

    def clear(self, work, old):
        subprocess.run(["rm", "-rf", *self.folder.iterdir()], check=True)
        for output in work.outputs:
            if old and "." in output:
                (self.folder / output).write_bytes(OLD)

    def run(self, work, patience=SECONDS, **inject):
        return subprocess.run(
            [self.program, *work.arguments], cwd=self.folder, env=self.environment(**inject), capture_output=True,
            stdin=subprocess.DEVNULL, timeout=patience, check=False,
        )

    def counts(self, work):
        """Runs it undisturbed; keeps what it wrote. How often it called what can fail."""
        self.clear(work, False)
        done = self.run(work, INJECT_COUNT=str(self.folder / "count"))
        assert done.returncode == 0, (work.name, done.stderr)
        lines = (self.folder / "count").read_text().split("\n")
        for output in work.outputs:
            self.wholes[output, work.name] = self.content(output)
        return {line.split()[0]: int(line.split()[1]) for line in lines if line}

    def content(self, output):
        path = self.folder / output
        if path.is_dir():
            return {file.name: file.read_bytes() for file in path.iterdir()}
        return path.read_bytes() if path.exists() else None

    def judge(self, work, done, what, killed=False):
        """Adds what does not hold."""
        self.runs += 1
        self.refusals += done.returncode != 0
        wrong = []
        if done.returncode not in CODES and not (killed and done.returncode == -signal.SIGKILL):
            wrong.append(f"ended with {done.returncode}: {done.stderr[-300:]}")
        if done.returncode not in (0, 130, -signal.SIGKILL) and b"moefabric" not in done.stderr and b"error" not in done.stderr:
            wrong.append(f"exit code {done.returncode} without a message: {done.stderr[-300:]}")
        for output in work.outputs:
            content = self.content(output)
            whole = self.wholes.get((output, work.name))
            if done.returncode == 0 and content != whole:
                wrong.append(f"exit code 0, but {output} is not whole")
            if content not in (None, OLD, whole) and not self.is_partial_result(work, done, output):
                wrong.append(f"{output} is neither the old one nor whole")
        left = [path.name for path in self.folder.rglob("*") if path.name.endswith(".part")]
        if left and not killed and b"out of memory" not in done.stderr: # no clean-up then: it would need memory too
            wrong.append(f"left behind: {left}")
        if work.resumable and done.returncode != 0 and not self.resumes(work):
            wrong.append("called again it does not come to the same file")
        self.faults += [f"{work.name}, {what}: {text}" for text in wrong]

    def resumes(self, work):
        """Calls it again, undisturbed, with what the call before left."""
        again = self.run(work)
        return again.returncode == 0 and all(self.content(output) == self.wholes[output, work.name] for output in work.outputs)

    def is_partial_result(self, work, done, output):
        """After a signal a result holds what was finished, that of a sweep also after the failure of a point: it is whole as a file, which the program itself must read."""
        cut_short = (130, -signal.SIGKILL, 1, 3) if work.resumable else (130, -signal.SIGKILL)
        if done.returncode not in cut_short or work.reads is None:
            return False
        arguments = [str(word).replace("@FOLDER@", str(self.folder)) for word in work.reads]
        read = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, check=False)
        return read.returncode == 0


def fail_memory(bench, work, every):
    """Each allocation, alone and with all that follow it."""
    counts = bench.counts(work)
    begin, said = 1, f"{counts['malloc']} allocations"
    if every == 1:  # those before anything is written fail in copies of one process, which is faster by an order
        begin = counts["before"] + 1
        fail_in_copies(bench, work)
        bench.runs += 2 * counts["before"]
        bench.refusals += 2 * counts["before"]
        said += f", {counts['before']} of them in copies of the process"
    for number in range(begin, counts["malloc"] + 1, every):
        for sticky in ("", "+"):
            bench.clear(work, True)
            inject = f"malloc:{number}{sticky}:ENOMEM"
            bench.judge(work, bench.run(work, INJECT_CALL=inject), inject)
    return said


def fail_in_copies(bench, work):
    """The program itself ends well; what its copies did wrong is in a file."""
    bench.clear(work, False)
    faults = bench.folder / "faults"
    done = bench.run(work, patience=3600, INJECT_EACH=str(faults))
    wrong = faults.read_text(errors="replace").splitlines()
    if done.returncode != 0:
        wrong.append(f"ended with {done.returncode}: {done.stderr[-300:]}")
    bench.faults += [f"{work.name}, {text}" for text in wrong]


def fail_disk(bench, work, every):
    """Each call that reaches a file."""
    counts = bench.counts(work)
    said = []
    for call, hows in (("open", ("EIO",)), ("write", ("ENOSPC", "EIO", "short", "EINTR")), ("read", ("EIO", "short", "EINTR")),
                       ("fsync", ("EIO",)), ("rename", ("EIO",)), ("fclose", ("ENOSPC",))):
        said.append(f"{call} {counts[call]}")
        for how in hows:
            for sticky in ("", "+") if how in ("ENOSPC", "EIO") else ("",):
                for number in range(1, counts[call] + 1, every):
                    bench.clear(work, True)
                    inject = f"{call}:{number}{sticky}:{how}"
                    bench.judge(work, bench.run(work, INJECT_CALL=inject), inject)
    return ", ".join(said)


def signalled(inputs):
    """What signals are sent to: works that take a while, with processes, threads or a search of their own."""
    compare = Work("compare", ["compare", CONFIGS / "incast.yaml", "--threads", "2", "--quiet", "-o", "out.h5"], ["out.h5"], ["show", "out.h5"])
    return [compare, *(work for work in works(inputs) if work.name in ("series", "place", "train", "sweep"))]


def send_signals(bench, work, rounds):
    """Signals at moments from before the start of main to after the end."""
    seed = int(os.environ.get("MOEFABRIC_INJECT_SEED", random.randrange(1 << 32)))
    draw = random.Random(seed)
    bench.counts(work)
    started = time.monotonic()
    bench.run(work)
    duration = time.monotonic() - started
    ends = {}
    for number in range(rounds):
        bench.clear(work, True)
        sent = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[number % 3]
        program = subprocess.Popen(
            [bench.program, *work.arguments], cwd=bench.folder, env=bench.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGTERM)],
        )
        moment = draw.uniform(0, 1.1 * duration)
        time.sleep(moment)
        program.send_signal(sent)
        out, err = program.communicate(timeout=SECONDS)
        done = subprocess.CompletedProcess([], program.returncode, out, err)
        # before it listens, and where nothing is to be kept, a signal does what it always does
        usual = program.returncode == -sent and all(bench.content(output) == OLD for output in work.outputs)
        if not usual:
            bench.judge(work, done, f"{sent.name} after {moment:.3f} of {duration:.3f} s", killed=sent == signal.SIGKILL)
        ends[program.returncode] = ends.get(program.returncode, 0) + 1
    return f"seed {seed}; ends: {dict(sorted(ends.items()))}"


def prepare(bench):
    """Small files that readers read."""
    inputs = pathlib.Path(tempfile.mkdtemp(prefix="moefabric-inject-"))
    (inputs / "sweep.yaml").write_text(SWEEP, encoding="utf-8")
    (inputs / "size.yaml").write_text(SIZE, encoding="utf-8")

    def make(*arguments):
        return subprocess.run([bench.program, *arguments], check=True, stdout=subprocess.PIPE).stdout

    make("run", CONFIGS / "single-flow.yaml", "--quiet", *settings("traffic.bytes=64KiB"), "-o", inputs / "result.h5")
    make("sweep", inputs / "sweep.yaml", "--quiet", "-o", inputs / "sweep.h5")
    for name, sizes in (("node.log", "64KiB:1MiB"), ("size.log", "64KiB:64KiB")):
        log = make("perf", "alltoall", SOURCE / "topologies" / "hgx-h200.yaml", *settings("cluster.racks=1", "policies=[adaptive+none]"),
                   "--sizes", sizes)
        (inputs / name).write_bytes(log)
    return inputs


def chosen(tasks):
    """Those that MOEFABRIC_INJECT_ONLY names."""
    only = os.environ.get("MOEFABRIC_INJECT_ONLY")
    return [work for work in tasks if only is None or work.name in only.split(",")]


def main():
    kind, program, shim = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    bench = Bench(program, shim)
    inputs = prepare(bench)
    tasks = chosen(signalled(inputs) if kind == "signals" else works(inputs))
    injection = {"memory": fail_memory, "disk": fail_disk, "signals": send_signals}[kind]
    print(f"1..{len(tasks)}")
    failed = 0
    for index, work in enumerate(tasks, 1):
        bench.faults, bench.runs, bench.refusals = [], 0, 0
        said = injection(bench, work, number)
        failed += bool(bench.faults)
        print(f"{'not ok' if bench.faults else 'ok'} {index} - {kind} {work.name}: {bench.runs} runs, {bench.refusals} refused; {said}")
        for fault in bench.faults[:20]:
            print(f"# {fault}")
        sys.stdout.flush()
    subprocess.run(["rm", "-rf", bench.folder, inputs], check=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
