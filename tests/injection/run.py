#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program while what it stands on fails: memory, disks, signals. See tests/README.md, "Injected failures".

    run.py memory  PROGRAM SHIM [EVERY]    each allocation fails once, then it and all after it (EVERY: only each so-manieth)
    run.py disk    PROGRAM SHIM [EVERY]    each write, read, open, fsync, rename and close of a file fails
    run.py signals PROGRAM SHIM [ROUNDS]   SIGINT, SIGTERM and SIGKILL at moments drawn anew (seed: MOEFABRIC_INJECT_SEED)

What must hold each time: no crash; exit code 0 only if what was to be written is there, whole; else a message and one of the
documented exit codes; under the final name the older file, or the new one, whole, never a part; no temporary file (.part) is left,
but after SIGKILL and where memory ran out. Speaks TAP.
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


class Work:
    """A command line, and what it writes."""

    def __init__(self, name, arguments, outputs=()):
        self.name, self.arguments, self.outputs = name, arguments, outputs


def works(result):
    """What is run: readers of every kind of file, and every writer. result is a result file to read."""
    flow = CONFIGS / "single-flow.yaml"
    small = ["--set", "traffic.bytes=64KiB", "--threads", "1", "--quiet"]
    return [
        Work("check", ["check", flow, "--threads", "1"]),
        Work("check-gate", ["check", CONFIGS / "measured-gate.yaml", "--threads", "1"]),
        Work("topology", ["topology", SOURCE / "topologies" / "leaf-spine-400g.yaml"]),
        Work("run", ["run", flow, *small, "-o", "out.h5"], ["out.h5"]),
        Work("series", ["run", flow, *small, "--set", "record.interval=1us", "--set", "record.links=uplinks",
                        "-o", "out.h5", "--series", "out.csv"], ["out.h5", "out.csv"]),
        Work("show", ["show", result]),
        Work("export", ["export", result, "--folder", "out", "--quiet"], ["out"]),
        Work("report", ["report", result, "-o", "out.html", "--quiet"], ["out.html"]),
        Work("diff", ["diff", result, result]),
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

    def run(self, work, **inject):
        return subprocess.run(
            [self.program, *work.arguments], cwd=self.folder, env=self.environment(**inject), capture_output=True,
            stdin=subprocess.DEVNULL, timeout=SECONDS, check=False,
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
        self.faults += [f"{work.name}, {what}: {text}" for text in wrong]

    def is_partial_result(self, work, done, output):
        """After a signal a result holds the runs that were finished: whole as a file, which the program itself must read."""
        if done.returncode not in (130, -signal.SIGKILL) or not output.endswith(".h5"):
            return False
        shown = subprocess.run([self.program, "show", output], cwd=self.folder, capture_output=True, check=False)
        return shown.returncode == 0


def fail_memory(bench, work, every):
    """Each allocation, alone and with all that follow it."""
    n = bench.counts(work)["malloc"]
    for number in range(1, n + 1, every):
        for sticky in ("", "+"):
            bench.clear(work, True)
            inject = f"malloc:{number}{sticky}:ENOMEM"
            bench.judge(work, bench.run(work, INJECT_CALL=inject), inject)
    return f"{n} allocations"


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


def send_signals(bench, rounds):
    """Signals at moments from before the start of main to after the end."""
    seed = int(os.environ.get("MOEFABRIC_INJECT_SEED", random.randrange(1 << 32)))
    draw = random.Random(seed)
    work = Work("compare", ["compare", CONFIGS / "incast.yaml", "--threads", "2", "--quiet", "-o", "out.h5"], ["out.h5"])
    started = time.monotonic()
    bench.counts(work)
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
        early = program.returncode == -sent and bench.content("out.h5") == OLD # before it listens: the signal does what it always does
        if not early:
            bench.judge(work, done, f"{sent.name} after {moment:.3f} of {duration:.3f} s", killed=sent == signal.SIGKILL)
        ends[program.returncode] = ends.get(program.returncode, 0) + 1
    return f"seed {seed}; ends: {dict(sorted(ends.items()))}"


def prepare(bench):
    """A small result file that readers read."""
    result = pathlib.Path(tempfile.mkdtemp(prefix="moefabric-inject-")) / "result.h5"
    subprocess.run(
        [bench.program, "run", CONFIGS / "single-flow.yaml", "--quiet", "--set", "traffic.bytes=64KiB", "-o", result],
        check=True, stdout=subprocess.DEVNULL,
    )
    return result


def main():
    kind, program, shim = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    bench = Bench(program, shim)
    result = prepare(bench)
    tasks = [None] if kind == "signals" else works(result)
    print(f"1..{len(tasks)}")
    failed = 0
    for index, work in enumerate(tasks, 1):
        bench.faults, bench.runs, bench.refusals = [], 0, 0
        if kind == "signals":
            said = send_signals(bench, number)
        else:
            said = (fail_memory if kind == "memory" else fail_disk)(bench, work, number)
        failed += bool(bench.faults)
        name = work.name if work else "compare"
        print(f"{'not ok' if bench.faults else 'ok'} {index} - {kind} {name}: {bench.runs} runs, {bench.refusals} refused; {said}")
        for fault in bench.faults[:20]:
            print(f"# {fault}")
        sys.stdout.flush()
    subprocess.run(["rm", "-rf", bench.folder, result.parent], check=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
