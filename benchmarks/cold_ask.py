"""How long a question takes with nothing running: server, five processes, ingestion, answer, all gone again.

`python -m benchmarks.cold_ask [--runs N] [--json]`. Seconds of the whole command, as a user waits for it.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HANDBOOK = Path(__file__).resolve().parent.parent / "examples" / "handbook"
QUESTION = "Can I get a refund on an annual plan?"


def one_run(docs: Path) -> float:
    """Seconds of one cold `ask` in an empty folder; RuntimeError if it did not answer."""
    command = [sys.executable, "-m", "groundwire", "ask", "--docs", str(docs), QUESTION]
    with tempfile.TemporaryDirectory(prefix="cold-") as folder:
        started = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - started
    if done.returncode != 0 or "refunds.md" not in done.stdout:
        raise RuntimeError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return seconds


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_ask", description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="the seconds as JSON")
    options = parser.parse_args()
    seconds = []
    for number in range(options.runs):
        seconds.append(round(one_run(HANDBOOK), 2))
        print(f"run {number + 1}: {seconds[-1]:.2f} s", file=sys.stderr, flush=True)
    report = {
        "runs": options.runs,
        "median_s": statistics.median(seconds),
        "min_s": min(seconds),
        "max_s": max(seconds),
    }
    if options.json:
        print(json.dumps(report))
    else:
        print("median {median_s:.2f} s, {min_s:.2f} to {max_s:.2f} ({runs} runs)".format(**report))


if __name__ == "__main__":
    main()
