"""Five hops in five processes, on our bus and through other libraries over Redis Streams, in turns on one server.

`python -m benchmarks.peers [--json] [--peers a,b] [--seconds N]`. Every peer is set up as its documentation says, with
a link beside each setting, and carries a small plain message. That favours the peers: ours and the bare loop carry an
envelope, write an event a hop, delete what is done, and write nothing without a fence. FastStream's batch subscriber
acknowledges its batch as a whole, in a call after the one that publishes. A turn is one side alone: an empty server,
five workers and a publisher started, a burst, queries one at a time, all killed. Sides take turns, in turned order
each time; figures are medians of the turns.
"""

import argparse
import json
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from groundwire.embedded import TemporaryServer, temporary_server

from ..hops import say
from .report import ratios, rows_of, summary
from .sides import INSTALL, OURS, PEERS, SIDES, missing
from .turn import Plan, Reader, Turn, take

_TURNS = 3
_LONGEST_TURN_S = 20.0


def measure(server: TemporaryServer, names: list[str], seconds: float) -> dict[str, Any]:
    """Turns until the time is up, at least one a side; the report."""
    reader = Reader(server.url)
    # Half a turn more: finding the size of each burst takes its time in the first round.
    plan = Plan(min(_LONGEST_TURN_S, seconds / ((_TURNS + 0.5) * len(names))))
    done: dict[str, list[Turn]] = {name: [] for name in names}
    started, round_s = time.monotonic(), 0.0
    while not done[OURS] or time.monotonic() + round_s < started + seconds:
        round_started = time.monotonic()
        for name in names:
            server.flush()
            burst = done[name][0].queries if done[name] else None
            turn = take(reader, server.url, SIDES[name], plan, burst)
            done[name].append(turn)
            say(f"turn {len(done[name])}, {name}: {turn.queries_per_s:,.0f} queries/s")
        names = names[::-1]
        round_s = time.monotonic() - round_started
    sides = {name: summary(turns) for name, turns in done.items()}
    return {
        "server": f"Valkey {reader.version}",
        "seconds": round(time.monotonic() - started, 1),
        **ratios(sides),
        "sides": sides,
    }


def show(report: dict[str, Any]) -> None:
    """Print the table."""
    table = Table(title=f"Five hops in five processes, {report['server']}, medians")
    for heading in ("side", "queries/s (min-max)", "N × turns", "one in flight, ms"):
        table.add_column(heading)
    table.add_column("ours / it, queries/s")
    table.add_column("ours / it, p50")
    for row in rows_of(report):
        table.add_row(*row)
    Console(width=120).print(table, "Latencies are p50 / p95 / p99, end to end.")


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the report as JSON, not as a table")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("--seconds", type=float, default=300.0, help="of the whole run, about")
    options = parser.parse_args()
    names = [OURS, *options.peers.split(",")]
    if unknown := sorted(set(names) - set(SIDES)):
        parser.error(f"no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    if absent := missing(names):
        say(f"Not installed: {', '.join(absent)}. Install the pinned peers with: {INSTALL}")
        sys.exit(2)
    with temporary_server() as server:
        report = measure(server, list(dict.fromkeys(names)), options.seconds)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
