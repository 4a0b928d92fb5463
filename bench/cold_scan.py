"""Cold scan against a bare tree-sitter parse of the same files by the same number of processes, in one run.

usage: cold_scan.py REPOSITORY [--glob 'src/*-cuda'] [--jobs 2] [--rounds 3]

Prints raw seconds of each round and the ratio of the medians; nothing is asserted.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUFFIXES = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"}

BARE = """
import sys, multiprocessing
import tree_sitter, tree_sitter_cuda
def parse(paths):
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
    for path in paths:
        with open(path, "rb") as handle:
            parser.parse(handle.read())
if __name__ == "__main__":
    jobs = int(sys.argv[1])
    paths = sys.stdin.read().splitlines()
    if jobs == 1:
        parse(paths)
    else:
        with multiprocessing.get_context("forkserver").Pool(jobs) as pool:
            pool.map(parse, [paths[i : i + 64] for i in range(0, len(paths), 64)], chunksize=1)
"""


def code_files(root, glob):
    """C, C++ and CUDA files below the folders that the glob names."""
    folders = sorted(root.glob(glob)) if glob else [root]
    return [
        p
        for folder in folders
        for p in sorted(folder.rglob("*"))
        if p.suffix.lower() in SUFFIXES and p.is_file() and not p.is_symlink()
    ]


def seconds(command, stdin=""):
    """Wall seconds of a command."""
    began = time.perf_counter()
    subprocess.run(command, input=stdin, text=True, check=True, capture_output=True)
    return time.perf_counter() - began


def main():
    """Runs both sides in turn and prints the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", type=Path)
    parser.add_argument("--glob", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    files = code_files(args.root, args.glob)
    size = sum(p.stat().st_size for p in files)
    print(f"{len(files)} files, {size / 1e6:.1f} MB, {args.jobs} processes")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        for path in files:
            copy = tree / path.relative_to(args.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        script = Path(folder, "bare.py")
        script.write_text(BARE)
        names = "\n".join(map(str, files))
        report = Path(folder, "report.json")
        scan = [sys.executable, "-m", "portaudit", "scan", str(tree), "-q", "-f", "json", "-o", str(report)]
        scan += ["--jobs", str(args.jobs)]
        bare_times, scan_times = [], []
        seconds(
            [sys.executable, "-m", "portaudit", "lookup", "cudaMalloc"]
        )  # the index of the rules is made once
        for round_number in range(args.rounds):
            bare_times.append(seconds([sys.executable, str(script), str(args.jobs)], names))
            scan_times.append(seconds(scan))
            print(f"round {round_number + 1}: bare parse {bare_times[-1]:.2f} s, scan {scan_times[-1]:.2f} s")
        findings = len(json.loads(report.read_text())["findings"])
    ratio = statistics.median(scan_times) / statistics.median(bare_times)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"scan / bare parse: {ratio:.2f}   peak memory of the largest process: {peak:.0f} MB  "
        f" findings: {findings}"
    )


if __name__ == "__main__":
    main()
