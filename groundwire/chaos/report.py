"""The account of a run: from the client's book and the result streams to what was lost, repeated or wrong."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bus import Verification

from .book import ANSWERED, Asked, Recovery
from .plan import Strike


@dataclass(frozen=True)
class Left:
    """One entry of a result stream: whose it is, how it ended, whether it replaces an earlier one."""

    query_id: str
    outcome: str
    supersedes: bool = False


@dataclass(frozen=True)
class Death:
    """Where and why a query became a dead letter."""

    stage: str
    reason: str
    deliveries: int
    error: str

    def __str__(self) -> str:
        return f"({self.stage}: {self.reason}, {self.deliveries} deliveries, {self.error})"


@dataclass(frozen=True)
class Account:
    """What became of the queries of a run; ids, sorted."""

    accepted: int
    replayed: int
    results: int
    lost: tuple[str, ...]
    """Accepted or replayed, and without the result of that."""
    duplicates: tuple[str, ...]
    """An id for every result more than the query's acceptance and replays ask for."""
    unasked: tuple[str, ...]
    """With a result though refused, or never asked."""
    misjudged: tuple[str, ...]
    """Answered though poison, or failed though innocent."""


def account(queries: Mapping[str, Asked], left: Iterable[Left]) -> Account:
    """Compare what the client was told with what lies on the result streams."""
    entries = tuple(left)
    first = Counter(entry.query_id for entry in entries if not entry.supersedes)
    again = Counter(entry.query_id for entry in entries if entry.supersedes)
    accepted = {query_id for query_id, asked in queries.items() if asked.standing == "accepted"}
    replays = Counter({query_id: asked.replays for query_id, asked in queries.items()})
    asked_for = {query_id for query_id, asked in queries.items() if asked.standing != "refused"}
    surplus = (first - Counter(first.keys())) + (again - replays)
    return Account(
        accepted=len(accepted),
        replayed=replays.total(),
        results=len(entries),
        lost=tuple(sorted((accepted - first.keys()) | (replays - again).keys())),
        duplicates=tuple(sorted(surplus.elements())),
        unasked=tuple(sorted(first.keys() - asked_for)),
        misjudged=tuple(
            sorted({entry.query_id for entry in entries if _misjudges(entry, queries)})
        ),
    )


def _misjudges(entry: Left, queries: Mapping[str, Asked]) -> bool:
    asked = queries.get(entry.query_id)
    if asked is None:
        return False
    return entry.outcome not in (ANSWERED if entry.supersedes else asked.ends_as)


@dataclass(frozen=True)
class Counts:
    """What the bus itself counted during a run, all lanes together."""

    accepted: int
    replayed: int
    results: int
    open: int
    holds: bool
    """Whether the law of conservation does, in every lane."""


def counts(before: Sequence[Verification], after: Sequence[Verification]) -> Counts:
    """The difference of two readings, for a server need not be empty at first."""

    def more(of: Callable[[Verification], int]) -> int:
        return sum(map(of, after)) - sum(map(of, before))

    return Counts(
        accepted=more(lambda lane: lane.accepted),
        replayed=more(lambda lane: lane.replayed),
        results=more(lambda lane: sum(lane.outcomes.values())),
        open=sum(lane.open for lane in after),
        holds=all(lane.holds for lane in after),
    )


@dataclass(frozen=True)
class Report:
    """One seed's run."""

    seed: int
    account: Account
    leaked: tuple[str, ...]
    """The keys of blobs that are left though nothing is under way any more."""
    deaths: Mapping[str, Death]
    """By query, of those whose dead letter is still there: a replay takes it away."""
    refusals: int
    counts: Counts
    verification: tuple[Verification, ...]
    """What `groundwire verify` says at the end, lane by lane."""
    recoveries: tuple[Recovery, ...]
    faults: tuple[Strike, ...]
    seconds: float

    @property
    def wrong(self) -> dict[str, str]:
        """What is wrong with which query, for a person; empty where all is well."""
        found = self.account
        named = {
            "lost": found.lost,
            "answered twice": found.duplicates,
            "answered though not accepted": found.unasked,
            "failed though innocent, or answered though poison": found.misjudged,
        }
        return {
            query_id: f"{what} {self.deaths.get(query_id, '')}".strip()
            for what, ids in named.items()
            for query_id in ids
        }

    @property
    def verified(self) -> bool:
        """Whether the bus's law holds, nothing is open, and its counts are the client's."""
        found = self.account
        return self.counts == Counts(found.accepted, found.replayed, found.results, 0, holds=True)

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, repeated, made up, misjudged or left behind, and `verify` is exact."""
        return not self.wrong and not self.leaked and self.verified

    def as_json(self) -> dict[str, object]:
        """The report for a program."""
        found = self.account
        return {
            "seed": self.seed,
            "accepted": found.accepted,
            "replayed": found.replayed,
            "results": found.results,
            "lost": len(found.lost),
            "duplicates": len(found.duplicates),
            "unasked": len(found.unasked),
            "misjudged": len(found.misjudged),
            "leaked": len(self.leaked),
            "wrong": self.wrong,
            "leaks": self.leaked,
            "refusals": self.refusals,
            "recovery_s": recovery_s(self.recoveries),
            "verify": self.verified,
            "verification": self.verification,
            "faults": self.faults,
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True)
class Totals:
    """Several seeds' runs together."""

    reports: tuple[Report, ...]

    @property
    def holds(self) -> bool:
        """Whether every run's report does."""
        return all(report.holds for report in self.reports)

    @property
    def recoveries(self) -> tuple[Recovery, ...]:
        """Those of all runs."""
        return tuple(one for report in self.reports for one in report.recoveries)

    def as_json(self) -> dict[str, object]:
        """The sums, and each run's report."""
        accounts = [report.account for report in self.reports]
        return {
            "accepted": sum(found.accepted for found in accounts),
            "replayed": sum(found.replayed for found in accounts),
            "results": sum(found.results for found in accounts),
            "lost": sum(len(found.lost) for found in accounts),
            "duplicates": sum(len(found.duplicates) for found in accounts),
            "unasked": sum(len(found.unasked) for found in accounts),
            "misjudged": sum(len(found.misjudged) for found in accounts),
            "leaked": sum(len(report.leaked) for report in self.reports),
            "recovery_s": recovery_s(self.recoveries),
            "verify": all(report.verified for report in self.reports),
            "runs": [report.as_json() for report in self.reports],
        }


def recovery_s(recoveries: Sequence[Recovery]) -> dict[str, dict[str, float | int | None]]:
    """By fault: how often, and over those alone the median, 95th percentile and maximum in seconds.

    `first` is the median until the next result of any query; None where nothing was measured.
    """
    found: dict[str, dict[str, float | int | None]] = {}
    for fault in dict.fromkeys(one.fault for one in recoveries):
        times = sum(one.fault == fault for one in recoveries)
        mine = [one for one in recoveries if one.fault == fault and one.alone]
        ended = sorted(one.seconds for one in mine if one.seconds is not None)
        first = [one.first_s for one in mine if one.first_s is not None]
        found[fault] = {
            "times": times,
            "alone": len(mine),
            "median": _rounded(median(ended)) if ended else None,
            "p95": _rounded(ended[-1 - len(ended) // 20]) if ended else None,
            "max": _rounded(ended[-1]) if ended else None,
            "first": _rounded(median(first)) if first else None,
        }
    return found


def _rounded(seconds: float) -> float:
    return round(seconds, 2)
