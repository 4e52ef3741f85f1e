import pytest

from bus.config import BusConfig
from bus.fate import DeadLetter, Retry, after_error, before_handler, retry_delay_ms
from contracts import IdempotencyConflict, Invalid, Misconfigured, Overloaded, Permanent, Transient

CONFIG = BusConfig(attempts=5, deliveries=5, retry_base_s=0.5, retry_cap_s=30.0)


def after(
    error: Exception, *, attempt: int = 1, now_ms: int = 0, deadline_ms: int = 600_000
) -> Retry | DeadLetter:
    return after_error(
        error,
        attempt=attempt,
        now_ms=now_ms,
        deadline_ms=deadline_ms,
        jitter=0.5,
        config=CONFIG,
    )


@pytest.mark.parametrize("deliveries", [1, 5])
def test_a_delivery_within_its_limits_may_start(deliveries: int) -> None:
    """The fifth delivery still runs."""
    fate = before_handler(deliveries=deliveries, now_ms=9, deadline_ms=10, config=CONFIG)
    assert fate is None


def test_one_delivery_too_many_is_a_dead_letter_before_the_handler() -> None:
    """Its workers died of it: it isn't given another one."""
    fate = before_handler(deliveries=6, now_ms=0, deadline_ms=10, config=CONFIG)
    assert isinstance(fate, DeadLetter)
    assert fate.reason == "deliveries"


@pytest.mark.parametrize("now_ms", [10, 11])
def test_a_delivery_at_or_past_its_deadline_does_not_start(now_ms: int) -> None:
    """The deadline itself is too late."""
    fate = before_handler(deliveries=1, now_ms=now_ms, deadline_ms=10, config=CONFIG)
    assert isinstance(fate, DeadLetter)
    assert fate.reason == "deadline"


def test_too_many_deliveries_weigh_more_than_the_deadline() -> None:
    """What killed its workers is told as such, however late it is."""
    fate = before_handler(deliveries=6, now_ms=11, deadline_ms=10, config=CONFIG)
    assert isinstance(fate, DeadLetter)
    assert fate.reason == "deliveries"


@pytest.mark.parametrize(
    "error",
    [
        Transient("x"),
        Overloaded("x", retry_after_s=1.0),
        ValueError("x"),
        TimeoutError(),
        OSError(5),
    ],
)
def test_what_may_pass_is_retried(error: Exception) -> None:
    """Transient errors, and those that nobody foresaw."""
    assert after(error) == Retry(250, 2, type(error).__name__)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Permanent("x"), "permanent"),
        (IdempotencyConflict("x"), "permanent"),
        (Misconfigured("x"), "permanent"),
        (Invalid("x"), "invalid"),
    ],
)
def test_what_will_not_pass_is_a_dead_letter_at_once(error: Exception, reason: str) -> None:
    """No attempt is wasted on it."""
    assert after(error) == DeadLetter(reason, type(error).__name__)  # type: ignore[arg-type]


def test_the_last_attempt_is_a_dead_letter() -> None:
    """Five attempts, not six."""
    assert isinstance(after(ValueError(), attempt=4), Retry)
    assert after(ValueError(), attempt=5) == DeadLetter("attempts", "ValueError")
    assert after(ValueError(), attempt=99) == DeadLetter("attempts", "ValueError")


def test_a_retry_that_would_come_too_late_is_a_dead_letter_now() -> None:
    """The asker need not wait for a deadline that is known to be missed."""
    assert after(ValueError(), deadline_ms=250) == DeadLetter("deadline", "ValueError")
    assert after(ValueError(), deadline_ms=251) == Retry(250, 2, "ValueError")


def test_no_text_of_an_exception_becomes_part_of_a_fate() -> None:
    """Its class alone is told: its words may hold a draft."""
    for error in (
        Permanent("secret"),
        Invalid("secret"),
        ValueError("secret"),
        Transient("secret"),
    ):
        assert "secret" not in repr(after(error))
        assert "secret" not in repr(after(error, attempt=5))


@pytest.mark.parametrize("attempt", range(1, 40))
def test_the_backoff_doubles_up_to_its_cap_with_full_jitter(attempt: int) -> None:
    """Uniform from 0 to base·2^(attempt−1), and never above the cap."""
    ceiling_ms = min(30_000.0, 500.0 * 2 ** (attempt - 1))
    assert retry_delay_ms(attempt, jitter=0.0, config=CONFIG) == 0
    assert retry_delay_ms(attempt, jitter=0.5, config=CONFIG) == int(ceiling_ms / 2)
    assert retry_delay_ms(attempt, jitter=0.999999, config=CONFIG) < ceiling_ms
