"""From turns to medians, ratios and a table. Values only."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..hops import median_of, quantiles
from .sides import OURS
from .turn import Turn


def summary(turns: Sequence[Turn]) -> dict[str, Any]:
    """Medians over a side's turns, and each turn's rate."""
    return {
        "queries": turns[0].queries,
        "turns": len(turns),
        "queries_per_s": median_of([turn.queries_per_s for turn in turns]),
        "queries_per_s_of_turns": [round(turn.queries_per_s, 1) for turn in turns],
        "single_ms": median_of([quantiles(turn.single_ms) for turn in turns]),
        "singles": len(turns[0].single_ms),
        "repeated": sum(turn.repeated for turn in turns),
    }


def ratios(sides: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Ours by each peer: throughput (more is better) and p50 with one in flight (less is better)."""
    ours, peers = sides[OURS], {name: of for name, of in sides.items() if name != OURS}
    return {
        "ours_over": {
            name: round(ours["queries_per_s"] / of["queries_per_s"], 3)
            for name, of in peers.items()
        },
        "p50_ours_over": {
            name: round(ours["single_ms"]["p50"] / of["single_ms"]["p50"], 3)
            for name, of in peers.items()
        },
    }


def rows_of(report: Mapping[str, Any]) -> Iterator[list[str]]:
    """The table's lines, the fastest first."""
    sides = report["sides"]
    for name in sorted(sides, key=lambda name: -sides[name]["queries_per_s"]):
        of = sides[name]
        rates = of["queries_per_s_of_turns"]
        yield [
            name,
            f"{of['queries_per_s']:,.0f} ({min(rates):,.0f}-{max(rates):,.0f})",
            f"{of['queries']:,} × {of['turns']}",
            " / ".join(f"{value:.1f}" for value in of["single_ms"].values()),
            f"{report['ours_over'].get(name, 1.0):.2f}",
            f"{report['p50_ours_over'].get(name, 1.0):.2f}",
        ]
