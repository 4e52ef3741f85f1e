"""`intents.toml`: validated, with errors that say where."""

from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire import intents

GOOD = """version = 1
threshold = 0.5

[[intents]]
label = "a"
keywords = { one = 1 }

[[intents]]
label = "b"
keywords = { "two words" = 2.5 }

[entities.plan]
annual = ["annual", "yearly"]

[messages]
caveat_entity = "Not about {values}."
"""


def test_a_good_file_keeps_its_listing_order() -> None:
    """The first listed wins ties, so order is meaning."""
    read = intents.parse(GOOD, "x")
    assert [intent.label for intent in read.intents] == ["a", "b"]
    assert read.entities == {"plan": {"annual": ("annual", "yearly")}}
    assert read.threshold == 0.5


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("threshold = 0.5", "threshold = 5", "line 2: threshold"),
        ("{ one = 1 }", "{ one = -1 }", r"line 6: intents\.0\.keywords\.one"),
        ('"two words" = 2.5', "", r"line 10: intents\.1\.keywords"),
        ('label = "b"', 'label = "a"', "'a' occurs twice"),
        ('label = "b"', 'label = "out_of_scope"', r"line 9: intents\.1\.label"),
        ('label = "b"', 'lable = "b"', r"intents\.1\.label: Field required"),
        ("Not about {values}.", "Not.", r"line 16: messages\.caveat_entity.*\{values\}"),
        ('["annual", "yearly"]', "[]", r"line 13: entities\.plan\.annual"),
        ("version = 1", "version = 2", "line 1: version"),
        ("version = 1", "version = ", "is not TOML"),
    ],
)
def test_a_fault_is_named_with_file_key_and_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    """A person edits this file: the error says where to look."""
    path = tmp_path / "intents.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(Misconfigured, match=expected) as caught:
        intents.load(path)
    assert str(path) in str(caught.value)


def test_the_file_is_found_beside_the_documents(tmp_path: Path) -> None:
    """In the folder, or next to the file that is asked."""
    assert intents.beside(tmp_path) is None
    (tmp_path / "intents.toml").write_text(GOOD)
    assert intents.beside(tmp_path) == tmp_path / "intents.toml"
    assert intents.beside(tmp_path / "passages.jsonl") == tmp_path / "intents.toml"


def test_two_intents_files_are_not_guessed_between(tmp_path: Path) -> None:
    """Each folder brings its own: a person has to choose."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "intents.toml").write_text(GOOD)
    assert intents.text_beside([tmp_path / "one"]) == GOOD
    with pytest.raises(Misconfigured, match="--intents"):
        intents.text_beside([tmp_path / "one", tmp_path / "two"])


RICH = """version = 1
keep = 0.9
languages = ["en", "de"]
ask_back = ["plan"]

[[intents]]
label = "a"
description = "About a"
examples = [
    "One a?",
    "Two a?",
]

[[intents]]
label = "b"
keywords = { b = 1 }
examples = ["One b?"]

[entities.plan]
annual = ["annual"]
monthly = ["monthly"]

[patterns]
order_number = '\\bHF-\\d{6}\\b'
amount = '[$€]\\s?\\d+(?:\\.\\d\\d)?'
"""


def test_examples_patterns_and_the_rest_are_read() -> None:
    """Everything that a file may say beyond keywords."""
    read = intents.parse(RICH, "x")
    assert read.intents[0].examples == ("One a?", "Two a?")
    assert read.has_examples
    assert not intents.parse(GOOD, "x").has_examples
    assert read.patterns["order_number"] == r"\bHF-\d{6}\b"
    assert (read.keep, read.languages, read.ask_back) == (0.9, ("en", "de"), ("plan",))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"One b?"', '"two A?"', r"line 17: intents\.1\.examples\.0: .*example of 'a' too"),
        ('    "Two a?",', '    "",', r"line 11: intents\.0\.examples\.1"),
        ('label = "b"', 'label = "a"', r"line 15: intents\.1\.label: .*'a' occurs twice"),
        ("keywords = { b = 1 }", "keywords = {}", r"line 16: intents\.1\.keywords: .*is empty"),
        ("\\bHF-", "(HF-", r"line 23: patterns: .*no regular expression"),
        ('["plan"]', '["plam"]', r"line 4: ask_back: there is no entity 'plam'"),
        ("keep = 0.9", "keep = 1.0", "line 2: keep"),
        ('["en", "de"]', '["english"]', r"line 3: languages\.0"),
        ("amount =", "plan =", r"line 25: patterns\.plan: .*entity with words too"),
        ('label = "a"\n', "", r"line 6: intents\.0\.label: Field required"),
    ],
)
def test_a_fault_of_the_rest_is_named_with_its_line(old: str, new: str, expected: str) -> None:
    """Two labels with the same example, in whatever case, are an error too."""
    with pytest.raises(Misconfigured, match=expected):
        intents.parse(RICH.replace(old, new), "x")


def test_a_label_needs_keywords_or_examples() -> None:
    """Else nothing could ever be of that label."""
    with pytest.raises(Misconfigured, match="needs keywords or examples"):
        intents.parse('version = 1\n[[intents]]\nlabel = "a"\n', "x")


def test_the_schema_describes_the_file() -> None:
    """For editors; the names are those of the file."""
    found = intents.schema()
    assert set(found["properties"]) == {
        "version", "threshold", "keep", "languages", "ask_back", "intents", "entities",
        "patterns", "messages",
    }  # fmt: skip
    assert found["additionalProperties"] is False
