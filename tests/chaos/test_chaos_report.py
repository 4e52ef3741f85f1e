"""The account: doctored books and result streams, and what it must say about them."""

import time
from dataclasses import replace

import pytest

from bus import Verification
from groundwire.chaos.book import Asked, Book, Standing
from groundwire.chaos.report import Account, Left, Report, Totals, account, recovery_s


def asked(query_id: str, standing: Standing = "accepted", ends_as: str = "answered") -> Asked:
    return Asked(query_id, ends_as, standing)


def book(*queries: Asked) -> dict[str, Asked]:
    return {one.query_id: one for one in queries}


def verification(accepted: int = 2, answered: int = 2, is_open: int = 0) -> Verification:
    return Verification(
        lane=0,
        accepted=accepted,
        replayed=0,
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


def report(found: Account, counted: Verification | None = None) -> Report:
    return Report(
        seed=1,
        account=found,
        deaths={},
        refusals=0,
        verification=counted or verification(),
        recoveries=(),
        faults=(),
        seconds=1.0,
    )


def test_one_result_for_each_acceptance_is_well() -> None:
    found = account(BOOK, GOOD)
    assert found == Account(2, 2, (), (), (), ())
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


def test_a_result_that_supersedes_is_no_duplicate() -> None:
    found = account(BOOK, [*GOOD, Left("0-a", "answered", supersedes=True)])
    assert found.duplicates == ()
    assert report(found).holds


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
    queries = book(asked("0-a"), asked("0-b", ends_as="failed"))
    assert account(queries, GOOD).misjudged == ("0-b",)
    assert account(queries, [Left("0-a", "failed"), Left("0-b", "failed")]).misjudged == ("0-a",)


def test_the_report_says_which_query_is_wrong_and_why_it_died() -> None:
    found = account(BOOK, [GOOD[0], Left("0-b", "failed")])
    told = replace(report(found), deaths={"0-b": "(critic: deliveries)"}).wrong
    assert list(told) == ["0-b"]
    assert "(critic: deliveries)" in told["0-b"]


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
