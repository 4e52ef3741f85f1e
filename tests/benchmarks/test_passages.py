"""The generated corpus is the same wherever it is made, and the measurement of passages counts all of it."""

from measured import report_of

from benchmarks import generated_corpus


def test_the_same_seed_makes_the_same_documents() -> None:
    """So that figures of two machines are of one corpus."""
    assert list(generated_corpus.generated(5)) == list(generated_corpus.generated(5))
    assert list(generated_corpus.generated(5, seed=2)) != list(generated_corpus.generated(5))


def test_a_run_reports_every_document_and_its_pace() -> None:
    """`--json` holds each run; one that left a document out would have failed."""
    runs = report_of("passages", "--documents", "10", "--runs", "2", within_s=60)
    assert [one["documents"] for one in runs] == [10, 10]
    assert all(one["passages"] >= 190 and one["passages_per_s"] > 0 for one in runs)
