"""The account: doctored books and result streams, and what it must say about them."""

import time
from dataclasses import replace

import pytest

from bus import Verification
from groundwire.chaos.book import ANSWERED, EITHER, FAILED, Asked, Book, Standing
from groundwire.chaos.report import (
    Account,
    Death,
    Left,
    Report,
    Totals,
    account,
    counts,
    recovery_s,
)


def asked(
    query_id: str,
    standing: Standing = "accepted",
    ends_as: frozenset[str] = ANSWERED,
    replays: int = 0,
) -> Asked:
    return Asked(query_id, ends_as, standing, replays)


def book(*queries: Asked) -> dict[str, Asked]:
    return {one.query_id: one for one in queries}


def verification(
    accepted: int = 2, answered: int = 2, is_open: int = 0, replayed: int = 0
) -> Verification:
    return Verification(
        lane=0,
        accepted=accepted,
        replayed=replayed,
        outcomes={"answered": answered, "out_of_scope": 0, "rejected": 0, "failed": 0},
        open=is_open,
        working=is_open,
        delayed=0,
        parked=0,
        bare=0,
        dropped=0,
    )


GOOD = [Left("0-a", "answered"), Left("0-b", "answered")]
BOOK = book(asked("0-a"), asked("0-b"))


def report(found: Account, *lanes: Verification) -> Report:
    lanes = lanes or (verification(),)
    return Report(
        seed=1,
        account=found,
        leaked=(),
        deaths={},
        refusals=0,
        counts=counts((), lanes),
        verification=lanes,
        recoveries=(),
        faults=(),
        seconds=1.0,
    )


def test_one_result_for_each_acceptance_is_well() -> None:
    found = account(BOOK, GOOD)
    assert found == Account(2, 0, 2, (), (), (), ())
    assert report(found).holds
    assert Totals((report(found),)).as_json()["lost"] == 0


def test_an_accepted_query_without_a_result_is_lost() -> None:
    found = account(BOOK, GOOD[:1])
    assert found.lost == ("0-b",)
    assert not report(found).holds


def test_every_result_after_the_first_is_a_duplicate() -> None:
    """Also on another stream: the outcome does not matter."""
    found = account(BOOK, [*GOOD, Left("0-a", "answered"), Left("0-a", "failed")])
    assert found.duplicates == ("0-a", "0-a")
    assert not report(found).holds


def test_each_replay_gives_one_more_result_that_supersedes() -> None:
    """Answered after a failure: neither lost, nor doubled, nor misjudged."""
    replayed = book(asked("0-a"), asked("0-b", ends_as=EITHER, replays=1))
    left = [GOOD[0], Left("0-b", "failed"), Left("0-b", "answered", supersedes=True)]
    found = account(replayed, left)
    assert found == Account(2, 1, 3, (), (), (), ())
    assert report(found, verification(answered=3, replayed=1)).holds


def test_a_replay_without_its_result_is_lost() -> None:
    replayed = book(asked("0-a"), asked("0-b", ends_as=EITHER, replays=1))
    assert account(replayed, [GOOD[0], Left("0-b", "failed")]).lost == ("0-b",)


def test_a_result_that_supersedes_without_a_replay_is_a_duplicate() -> None:
    found = account(BOOK, [*GOOD, Left("0-a", "answered", supersedes=True)])
    assert found.duplicates == ("0-a",)
    assert not report(found).holds


def test_a_replay_that_fails_again_is_misjudged() -> None:
    """What is replayed here died of its deadline, and has a fresh one."""
    replayed = book(asked("0-a", ends_as=EITHER, replays=1))
    left = [Left("0-a", "failed"), Left("0-a", "failed", supersedes=True)]
    assert account(replayed, left).misjudged == ("0-a",)


def test_what_a_server_held_before_is_not_counted() -> None:
    """Of several lanes the sums: each must hold by itself."""
    before = [verification(accepted=7, answered=7), verification()]
    after = [verification(accepted=9, answered=9, replayed=0), verification(accepted=3, answered=3)]
    counted = counts(before, after)
    assert (counted.accepted, counted.results, counted.open, counted.holds) == (3, 3, 0, True)
    assert not counts((), [verification(accepted=3), verification(answered=3)]).holds


def test_a_result_of_a_refused_or_unknown_query_is_unasked() -> None:
    found = account(book(asked("0-a"), asked("0-b", "refused")), [*GOOD, Left("0-c", "answered")])
    assert found.unasked == ("0-b", "0-c")
    assert not report(found).holds


def test_a_submit_without_an_answer_may_have_a_result_or_none() -> None:
    """Nobody was promised anything."""
    unknown = book(asked("0-a"), asked("0-b", "asked"))
    assert account(unknown, GOOD).unasked == ()
    assert account(unknown, GOOD[:1]).lost == ()


def test_a_poison_must_fail_and_an_innocent_must_not() -> None:
    queries = book(asked("0-a"), asked("0-b", ends_as=FAILED))
    assert account(queries, GOOD).misjudged == ("0-b",)
    assert account(queries, [Left("0-a", "failed"), Left("0-b", "failed")]).misjudged == ("0-a",)


def test_the_report_says_which_query_is_wrong_and_why_it_died() -> None:
    found = account(BOOK, [GOOD[0], Left("0-b", "failed")])
    told = replace(
        report(found), deaths={"0-b": Death("critic", "deliveries", 6, "its workers died")}
    ).wrong
    assert list(told) == ["0-b"]
    assert "(critic: deliveries, 6 deliveries, its workers died)" in told["0-b"]


def test_a_blob_that_is_left_is_a_leak() -> None:
    """Though each query has its one result."""
    found = replace(report(account(BOOK, GOOD)), leaked=("gw:{0}:blob:a",))
    assert found.verified
    assert not found.holds
    assert Totals((found,)).as_json()["leaked"] == 1


@pytest.mark.parametrize(
    "counted",
    [
        verification(is_open=1, accepted=3),
        verification(accepted=3, answered=3),
        verification(accepted=2, answered=1),
    ],
    ids=["something is open", "it counts more than the client", "its law is broken"],
)
def test_verify_is_not_believed_where_the_client_counted_otherwise(counted: Verification) -> None:
    found = report(account(BOOK, GOOD), counted)
    assert not found.verified
    assert not found.holds
    assert Totals((found,)).as_json()["verify"] is False


async def test_a_result_may_come_before_its_query_is_in_the_book() -> None:
    """The id of a bare entry is known once it was added."""
    kept = Book()
    kept.saw_result("0-1-0")
    bare = kept.ask("0-1-0", standing="accepted")
    assert await kept.all_answered([bare], within_s=0.0)


def test_a_recovery_lasts_until_all_that_were_open_have_their_results() -> None:
    kept = Book()
    for name in ("a", "b"):
        kept.ask(name).standing = "accepted"
    kept.fault_ended("kill", alone=True)
    kept.ask("c").standing = "accepted"
    kept.saw_result("c")
    kept.saw_result("a")
    assert kept.recovering
    first = kept.recoveries[0].first_s
    time.sleep(0.002)
    kept.saw_result("b")
    assert not kept.recovering
    [recovery] = kept.recoveries
    assert recovery.seconds is not None
    assert first is not None
    assert recovery.first_s == first < recovery.seconds


def test_a_fault_that_begins_before_the_last_is_recovered_from_leaves_neither_alone() -> None:
    kept = Book()
    kept.ask("a").standing = "accepted"
    assert kept.fault_began()
    kept.fault_ended("kill", alone=True)
    assert not kept.fault_began()
    kept.saw_result("a")
    assert not kept.recoveries[0].alone
    assert kept.fault_began()


def test_recoveries_are_summed_up_by_fault_and_only_those_of_a_fault_alone() -> None:
    kept = Book()
    kept.fault_ended("kill", alone=True)
    kept.fault_ended("kill", alone=False)
    kept.fault_ended("cut", alone=False)
    for recovery, seconds in zip(kept.recoveries, (1.0, 9.0, 5.0), strict=True):
        recovery.seconds = seconds
    summed = recovery_s(kept.recoveries)
    assert summed["kill"] | {"first": None} == {
        "times": 2,
        "alone": 1,
        "median": 1.0,
        "p95": 1.0,
        "max": 1.0,
        "first": None,
    }
    assert summed["cut"]["median"] is None
