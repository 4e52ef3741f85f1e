"""What is the same for all commands: help with examples, usage errors, no system, no secrets."""

from importlib.metadata import version

import pytest

from groundwire.cli.app import COMMANDS
from groundwire.evals.grounding import COLUMNS

from .conftest import Commands

DEAD = ("list", "show", "replay", "discard")
NEEDS_A_SYSTEM = [
    ["publish", "-"],
    ["tail"],
    ["result", "0-1"],
    ["status"],
    ["health"],
    ["verify"],
    ["dead", "list"],
    ["dead", "show", "0/1-0"],
    ["dead", "replay", "0/1-0"],
    ["dead", "discard", "0/1-0"],
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_shows_examples(nothing_up: Commands, command: str) -> None:
    """`--help` says what a command does and how it is typed, and exits 0."""
    done = nothing_up(command, "--help")
    assert done.code == 0
    assert "Examples:" in done.out
    assert f"groundwire {command}" in done.out.partition("Examples:")[2]


@pytest.mark.parametrize("command", DEAD)
def test_the_help_of_every_dead_letter_command_says_what_it_does(
    nothing_up: Commands, command: str
) -> None:
    """Subcommands have help too."""
    done = nothing_up("dead", command, "--help")
    assert done.code == 0
    assert f"groundwire dead {command}" in done.out


def test_the_help_lists_every_command_and_exit_code(nothing_up: Commands) -> None:
    """One page to start from."""
    done = nothing_up("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert f"  {command} " in done.out
    for code in ("0 answered", "1 failed", "2 usage", "3 no system", "4 out_of_scope"):
        assert code in " ".join(done.out.split())
    assert "5 rejected, 6 timeout" in " ".join(done.out.split())


def test_the_version_is_the_distribution_s(nothing_up: Commands) -> None:
    """By an option of the program that its help names; no command, settings or system is needed."""
    nothing_up.set("GROUNDWIRE_LANES", "many")
    done = nothing_up("--version")
    assert (done.code, done.out, done.err) == (0, f"groundwire {version('groundwire')}\n", "")
    assert "--version" in nothing_up("--help").out


@pytest.mark.parametrize("words", NEEDS_A_SYSTEM, ids=" ".join)
def test_without_a_system_a_command_says_what_to_start_and_exits_3(
    nothing_up: Commands, words: list[str]
) -> None:
    """Nothing is started behind anyone's back, and nothing is created."""
    done = nothing_up(*words, stdin="How do I cancel?\n")
    assert done.code == 3
    assert "groundwire up" in done.err
    assert "GROUNDWIRE_REDIS_URL" in done.err
    assert done.out == ""
    assert list(nothing_up.home.folder.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["sing"],
        ["status", "--colour"],
        ["status", "--watch"],
        ["status", "--json", "--serve", "9400"],
        ["ask"],
        ["ask", "x", "--timeout", "soon"],
        ["bench", "injection", "--split", "val"],
        ["bench", "intents", "--set", "x", "--split", "train"],
        ["ask", "x", "--timeout", "-1"],
        ["worker", "sing"],
        ["up", "--workers", "sing=1"],
        ["up", "--workers", "critic"],
        ["up", "--workers", "critic=-1"],
        ["up"],
        ["ingest"],
        ["ingest", "no/such/folder"],
        ["publish", "no-such-file"],
        ["ask", "--docs", "no/such/folder", "refund"],
        ["ask", "--profile", "sing", "refund"],
        ["ask", "refund"],
    ],
    ids=" ".join,
)
def test_a_command_that_makes_no_sense_exits_2(nothing_up: Commands, words: list[str]) -> None:
    """Usage errors have one code, and name what is wrong in a line or two without a traceback."""
    done = nothing_up(*words)
    assert done.code == 2
    assert "Traceback" not in done.err + done.out
    assert done.err.strip() or done.out.strip()


@pytest.mark.parametrize("words", [["status"], ["ask", "x"], ["doctor"], ["worker", "critic"]])
def test_an_unknown_variable_is_an_error_with_a_near_match(
    nothing_up: Commands, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """A typing error in a setting is never silently ignored."""
    monkeypatch.setenv("GROUNDWIRE_REDIS_ULR", "redis://localhost")
    done = nothing_up(*words)
    assert done.code == 2
    assert "GROUNDWIRE_REDIS_ULR" in done.err
    assert "did you mean GROUNDWIRE_REDIS_URL?" in done.err


def test_an_unknown_key_of_the_file_is_an_error_with_a_near_match(nothing_up: Commands) -> None:
    """The same for groundwire.toml."""
    (nothing_up.home.folder / "groundwire.toml").write_text('profil = "fast"\n')
    done = nothing_up("status")
    assert done.code == 2
    assert "did you mean profile?" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["verify"],
        ["ask", "refund", "--timeout", "1"],
        ["result", "0-1", "--timeout", "1"],
        ["publish", "-"],
        ["dead", "list"],
        ["tail"],
    ],
    ids=" ".join,
)
def test_a_server_that_does_not_answer_is_no_system_and_its_password_is_not_printed(
    nothing_up: Commands, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Exit 3 and the address, with the password as ***."""
    monkeypatch.setenv("GROUNDWIRE_REDIS_URL", "redis://user:hunter2@127.0.0.1:1/0")
    done = nothing_up(*words, stdin="refund\n")
    assert done.code == 3
    assert "hunter2" not in done.out + done.err
    assert "Traceback" not in done.err


def test_doctor_without_a_system_says_so_and_is_no_failure(nothing_up: Commands) -> None:
    """What is merely not there is a warning with a cure."""
    done = nothing_up("doctor")
    assert done.code == 0
    assert "nothing is running" in done.out
    assert "groundwire ingest" in done.out


def test_doctor_s_json_has_settings_and_findings(nothing_up: Commands) -> None:
    """For scripts: every check with its level and cure, every setting redacted."""
    nothing_up.unset("GROUNDWIRE_PROFILE")
    done = nothing_up("doctor", "--json")
    assert done.code == 0
    assert done.json.keys() == {"settings", "findings"}
    for finding in done.json["findings"]:
        assert finding.keys() == {"check", "level", "what", "cure"}
    assert done.json["settings"]["profile"] == "default"


def test_doctor_s_json_names_an_unknown_setting_too(
    nothing_up: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script reads one document, whatever is wrong."""
    monkeypatch.setenv("GROUNDWIRE_LANE", "2")
    done = nothing_up("doctor", "--json")
    assert done.code == 2
    (finding,) = done.json["findings"]
    assert (finding["check"], finding["level"]) == ("settings", "error")
    assert "did you mean GROUNDWIRE_LANES?" in finding["what"]


def test_doctor_fails_on_a_server_that_does_not_answer(
    nothing_up: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 when something is an error; the password stays a secret in every form."""
    monkeypatch.setenv("GROUNDWIRE_REDIS_URL", "redis://user:hunter2@127.0.0.1:1/0")
    for words in (["doctor"], ["doctor", "--json"]):
        done = nothing_up(*words)
        assert done.code == 1
        assert "hunter2" not in done.out + done.err


def test_bench_grounding_gives_its_auroc_at_the_top(nothing_up: Commands) -> None:
    """Of a file in BEGIN's layout, for profile `default`, as a program reads it."""
    rows = (
        "id\tsource\tThe crow is a black bird of nine grams.\tq\tThe crow is black.\tFully attributable",
        "id\tsource\tThe crow is a black bird of nine grams.\tq\tThe whale swims.\tNot fully attributable",
        "id\tsource\tThe crow is a black bird of nine grams.\tq\tHello!\tGeneric",
    )
    (nothing_up.home.folder / "begin.tsv").write_text("\n".join(["\t".join(COLUMNS), *rows, ""]))
    done = nothing_up("bench", "grounding", "--data", "begin.tsv", "--json")
    assert (done.code, done.json["auroc"]) == (0, 1.0)
