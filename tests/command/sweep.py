#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sweeps that are cut short, shared out and called again must give the same file as one that is left alone.

    sweep.py PROGRAM      speaks TAP
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CONFIGURATION = """\
name: points
topology: leaf-spine-100g.yaml
cluster: {racks: 16, gpus_used: 1}
traffic: {pattern: permutation, jitter: 1 us}
policies: [ecmp+dcqcn, adaptive+dcqcn]
seeds: 2
sweep:
  grid:
    traffic.bytes: {from: 1 MiB, to: 4 MiB, factor: 2}
    cluster.spines: [16, 8, 3]       # 3 do not fit 16 uplinks: those points are refused
    topology.nic.rate: [50 Gb/s, 100 Gb/s]
"""
WORKLOAD_CONFIGURATION = """\
name: points
topology: hgx-h100-roce.yaml
cluster: {racks: 2}
traffic: {pattern: workload_text, workload: layers.txt}
policies: [ecmp+none]
sweep: {list: [{topology.nic.rate: 200 Gb/s}]}
"""
WORKLOAD = "HYBRID_DATA_MODEL\n1\nmlp\t-1\t100\tNONE\t0\t100\tNONE\t0\t100\tALLREDUCE\t{size}\t100\n"
REFUSED = 3  # exit code of a sweep in which some points have mistakes
KILLS = 10


class Sweep:
    """A folder with the configuration, in which the program is called."""

    def __init__(self, program, parent, name, text=CONFIGURATION):
        self.program = program
        self.folder = pathlib.Path(parent) / name
        self.folder.mkdir()
        (self.folder / "points.yaml").write_text(text, encoding="utf-8")

    def command(self, *options):
        return [self.program, "sweep", "points.yaml", "--quiet", *options]

    def start(self, *options):
        return subprocess.Popen(
            self.command(*options), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )

    def run(self, *options, launcher=()):
        environment = dict(os.environ)
        if launcher:  # MPI libraries leave memory to the end of the process
            environment["ASAN_OPTIONS"] = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
        done = subprocess.run(
            [*launcher, *self.command(*options)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=100, check=False, env=environment,
        )
        return done.returncode, done.stdout

    def result(self):
        return (self.folder / "points.h5").read_bytes()

    def files(self):
        return sorted(path.name for path in (self.folder / "points.points").iterdir())


def killed_and_resumed(sweep, whole, draws, seconds):
    """Stops the program at ten random times: with all its processes, alone, and politely in turn; then lets it end."""
    for kill in range(KILLS):
        process = sweep.start("--jobs", "2", "--threads", "2")
        time.sleep(draws.uniform(0, 0.3 * seconds))
        if kill % 3 == 0:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.send_signal(signal.SIGKILL if kill % 3 == 1 else signal.SIGINT)
        process.wait(timeout=100)
    code, _ = sweep.run()
    return code == REFUSED and sweep.result() == whole


def interrupted_is_saved(sweep, seconds):
    """An interrupted sweep ends with 130 and a result of what is done; points that were not run say so."""
    process = sweep.start("--jobs", "1", "--threads", "1")
    time.sleep(0.6 * seconds)
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=100)
    shown = subprocess.run([sweep.program, "show", "points.h5"], cwd=sweep.folder, capture_output=True, text=True, check=False)
    return code in (130, REFUSED) and (code == REFUSED or "not run" in shown.stdout)


def shards_make_the_whole(sweep, whole):
    for shard in (3, 1, 2):
        sweep.run("--shard", f"{shard}/3")
    before = sweep.files()
    code, _ = sweep.run()
    return code == REFUSED and sweep.files() == before and sweep.result() == whole


def tasks_make_the_whole(sweep, whole, n_points):
    for index in range(n_points):
        sweep.run("--index", str(index))
    before = sweep.files()
    sweep.run()
    return sweep.files() == before and sweep.result() == whole


def damaged_points_are_run_again(sweep, whole):
    sweep.run()
    first, second, third = [sweep.folder / "points.points" / name for name in sweep.files()[:3]]
    first.write_bytes(first.read_bytes()[:1000])
    second.write_bytes(b"")
    shutil.copy(third, second)  # the result of another point under this one's name
    sweep.run()
    return sweep.result() == whole


def more_points_reuse_those_that_are_there(program, parent, whole):
    wider = Sweep(program, parent, "wider", CONFIGURATION.replace("[50 Gb/s, 100 Gb/s]", "[25 Gb/s, 50 Gb/s, 100 Gb/s]"))
    wider.run()
    (wider.folder / "points.yaml").write_text(CONFIGURATION, encoding="utf-8")
    before = wider.files()
    wider.run()
    return len(before) == 18 and wider.files() == before and wider.result() == whole


def files_of_ended_processes_go(sweep):
    """What a process had half written goes with the next call, also while nobody has waited for its end; a live one's stays."""
    sweep.run()
    folder, host = sweep.folder / "points.points", os.uname().nodename
    with subprocess.Popen(["true"]) as ended, subprocess.Popen(["sleep", "100"]) as living:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
        parts = [folder / f"0123456789abcdef.h5.{host}.{process.pid}.part" for process in (ended, living)]
        for part in parts:
            part.write_bytes(b"half")
        sweep.run()
        left = [part.exists() for part in parts]
        living.kill()
    return left == [False, True]


def a_changed_workload_is_run_anew(program, parent):
    """The text of a workload is none of the configuration's: a result of the text before must not stand for it."""
    sweep = Sweep(program, parent, "workload", WORKLOAD_CONFIGURATION)
    sizes = []
    for size in (65536, 131072):
        (sweep.folder / "layers.txt").write_text(WORKLOAD.format(size=size), encoding="utf-8")
        code, _ = sweep.run()
        sizes.append((code, sweep.result()))
    return sizes[0][0] == sizes[1][0] == 0 and sizes[0][1] != sizes[1][1] and len(sweep.files()) == 2


def ranks_make_the_whole(sweep, whole, launcher):
    code, _ = sweep.run("--threads", "1", launcher=[launcher, "-n", "3"])
    return code == REFUSED and sweep.result() == whole


def a_killed_point_is_kept_with_its_error(sweep):
    """Kills the process of a point, not the sweep: the point is in the table, and is run at the next call."""
    process = sweep.start("--jobs", "1", "--threads", "1")
    for _ in range(2000):
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        if children:
            os.kill(int(children[0]), signal.SIGKILL)
            break
        time.sleep(0.001)
    process.wait(timeout=100)
    shown = subprocess.run([sweep.program, "show", "points.h5"], cwd=sweep.folder, capture_output=True, text=True, check=False)
    return process.returncode == 1 and "failed: ended by signal 9" in shown.stdout


def report(number, good, name):
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    return good


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    draws = random.Random()
    launcher = shutil.which("mpirun")
    with tempfile.TemporaryDirectory(prefix="moefabric-sweep-") as parent:
        alone = Sweep(program, parent, "alone")
        began = time.monotonic()
        code, table = alone.run("--threads", "1")
        seconds = time.monotonic() - began
        whole = alone.result()
        checks = [
            ("a sweep left alone has 18 points, 6 of them refused", lambda: code == REFUSED and len(alone.files()) == 12),
            ("its table is that of show", lambda: subprocess.run(
                [program, "show", "points.h5"], cwd=alone.folder, capture_output=True, text=True, check=True).stdout == table),
            ("killed at random ten times and resumed", lambda: killed_and_resumed(
                Sweep(program, parent, "killed"), whole, draws, seconds)),
            ("interrupted, what is done is saved", lambda: interrupted_is_saved(Sweep(program, parent, "stopped"), seconds)),
            ("three shards make the whole", lambda: shards_make_the_whole(Sweep(program, parent, "shards"), whole)),
            ("single points make the whole", lambda: tasks_make_the_whole(Sweep(program, parent, "tasks"), whole, 18)),
            ("damaged points are run again", lambda: damaged_points_are_run_again(Sweep(program, parent, "damaged"), whole)),
            ("a narrower sweep finds the points of a wider one", lambda: more_points_reuse_those_that_are_there(
                program, parent, whole)),
            ("a point that is killed is kept with its error", lambda: a_killed_point_is_kept_with_its_error(
                Sweep(program, parent, "victim"))),
        ]
        checks.append(("half-written files of ended processes go", lambda: files_of_ended_processes_go(
            Sweep(program, parent, "ended"))))
        checks.append(("a changed workload text is run anew", lambda: a_changed_workload_is_run_anew(program, parent)))
        if len(sys.argv) > 2 and launcher:
            checks.append(("three ranks make the whole", lambda: ranks_make_the_whole(
                Sweep(program, parent, "ranks"), whole, launcher)))
        print(f"1..{len(checks)}", flush=True)
        results = [report(number, check(), name) for number, (name, check) in enumerate(checks, 1)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
