import re
from pathlib import Path

import pytest

from contracts.errors import Misconfigured
from groundwire.settings import SECRETS, Settings, load_settings, redact_url, secret_files

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
SECRET = "hunter2"


def test_defaults_work_on_a_laptop(tmp_path: Path) -> None:
    """Nothing has to be set."""
    settings = load_settings({}, tmp_path)
    assert settings.home == tmp_path / ".groundwire"
    assert settings.corpus == tmp_path / ".groundwire" / "corpus"
    assert settings.redis_url is None
    assert settings.attempts == 5


def test_a_variable_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    """Environment over groundwire.toml over defaults."""
    (tmp_path / "groundwire.toml").write_text("attempts = 7\ndeliveries = 8\n")
    settings = load_settings({"GROUNDWIRE_ATTEMPTS": "9", "HOME": "/"}, tmp_path)
    assert (settings.attempts, settings.deliveries, settings.lanes) == (9, 8, 1)


def test_relative_paths_are_relative_to_the_folder(tmp_path: Path) -> None:
    """A path means the same wherever the process stands."""
    env = {"GROUNDWIRE_HOME": "state", "GROUNDWIRE_INTENTS": "/abs/intents.toml"}
    settings = load_settings(env, tmp_path)
    assert settings.home == tmp_path / "state"
    assert settings.corpus == tmp_path / "state" / "corpus"
    assert settings.intents == Path("/abs/intents.toml")


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    """Compose files pass empty variables for what the user left out."""
    settings = load_settings({"GROUNDWIRE_REDIS_URL": "", "GROUNDWIRE_LANES": ""}, tmp_path)
    assert settings.redis_url is None
    assert settings.lanes == 1


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("GROUNDWIRE_REDIS_ULR", "GROUNDWIRE_REDIS_URL"),
        ("GROUNDWIRE_ATEMPTS", "GROUNDWIRE_ATTEMPTS"),
        ("groundwire_lanes", "GROUNDWIRE_LANES"),
    ],
)
def test_an_unknown_variable_is_an_error_with_a_near_match(
    tmp_path: Path, variable: str, meant: str
) -> None:
    """A misspelled setting never passes for unset."""
    with pytest.raises(Misconfigured, match=f"{variable}: did you mean {meant}\\?"):
        load_settings({variable: "1"}, tmp_path)


def test_an_unknown_key_is_an_error_with_a_near_match(tmp_path: Path) -> None:
    """The file is held to the same rule as the environment."""
    (tmp_path / "groundwire.toml").write_text('profil = "fast"\n')
    with pytest.raises(Misconfigured, match=r"unknown key profil in .*did you mean profile\?"):
        load_settings({}, tmp_path)


@pytest.mark.parametrize("text", ["lanes = \n", "lanes = 1\nlanes = 2\n"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, text: str) -> None:
    """The message says which file, and where in it."""
    (tmp_path / "groundwire.toml").write_text(text)
    with pytest.raises(Misconfigured, match=r"groundwire\.toml cannot be read: .*line"):
        load_settings({}, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LANES", "0"),
        ("ATTEMPTS", "many"),
        ("DEADLINE_S", "-1"),
        ("DEADLINE_S", "nan"),
        ("LEASE_S", "inf"),
        ("LOG_LEVEL", "loud"),
        ("LOG_JSON", "perhaps"),
    ],
)
def test_a_bad_value_names_its_variable_and_the_rule(tmp_path: Path, name: str, value: str) -> None:
    """Enough to mend it without reading code."""
    with pytest.raises(Misconfigured, match=f"GROUNDWIRE_{name}: .*should be .*'{value}'"):
        load_settings({f"GROUNDWIRE_{name}": value}, tmp_path)


def test_a_bad_value_in_the_file_names_its_key_and_file(tmp_path: Path) -> None:
    """The message says which of the sources to mend."""
    (tmp_path / "groundwire.toml").write_text("home = 5\n")
    with pytest.raises(Misconfigured, match=r"home in .*groundwire\.toml: "):
        load_settings({}, tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        f"http://:{SECRET}@host",
        f"redis://:{SECRET}@",
        f"redis://:{SECRET}@host:port",
        f"redis://:{SECRET}@[host",
        f"unix://:{SECRET}@",
        f"redis://:{SECRET}@host,other",
        f"redis+cluster://:{SECRET}@host,other:port",
        f"redis+sentinel://:{SECRET}@host",
        f"redis+other://:{SECRET}@host",
        f"rediss://:{SECRET}@host?ssl_cert_reqs=none",
        SECRET,
    ],
)
def test_a_bad_url_is_refused_without_repeating_it(tmp_path: Path, url: str) -> None:
    """No error message or traceback holds a piece of a secret."""
    with pytest.raises(Misconfigured, match="GROUNDWIRE_REDIS_URL: must") as caught:
        load_settings({"GROUNDWIRE_REDIS_URL": url}, tmp_path)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_key_without_its_certificate_is_refused(tmp_path: Path) -> None:
    """A certificate may hold its key; a key alone is half of what was meant."""
    with pytest.raises(Misconfigured, match="GROUNDWIRE_REDIS_TLS_KEY: needs the certificate"):
        load_settings({"GROUNDWIRE_REDIS_TLS_KEY": "client.key"}, tmp_path)
    both = {"GROUNDWIRE_REDIS_TLS_CERT": "client.pem", "GROUNDWIRE_REDIS_TLS_KEY": "client.key"}
    assert load_settings(both, tmp_path).redis_tls_key == tmp_path / "client.key"


@pytest.mark.parametrize(
    "url", ["redis+sentinel://app:pw@a,b:1/main/2", "rediss+cluster://:pw@a:1,b:2"]
)
def test_several_servers_are_named_in_one_url(tmp_path: Path, url: str) -> None:
    """And its password isn't shown."""
    settings = load_settings({"GROUNDWIRE_REDIS_URL": url}, tmp_path)
    assert settings.redis_url is not None
    assert settings.redis_url.get_secret_value() == url
    assert settings.redacted()["redis_url"] == url.replace("pw", "***")


def test_the_url_may_come_from_a_file(tmp_path: Path) -> None:
    """A secret needs not be in the environment."""
    (tmp_path / "url").write_text(f"rediss://app:{SECRET}@host:6380/2\n")
    settings = load_settings({"GROUNDWIRE_REDIS_URL_FILE": "url"}, tmp_path)
    assert settings.redis_url is not None
    assert settings.redis_url.get_secret_value() == f"rediss://app:{SECRET}@host:6380/2"


@pytest.mark.parametrize("name", SECRETS)
def test_every_secret_may_come_from_a_file_without_its_last_newline(
    tmp_path: Path, name: str
) -> None:
    """One rule: `<NAME>_FILE`, in the environment or in groundwire.toml."""
    value = f"redis://:{SECRET}@host" if name.endswith("_url") else SECRET
    (tmp_path / "secret").write_text(value + "\n")
    from_environment = load_settings({f"GROUNDWIRE_{name.upper()}_FILE": "secret"}, tmp_path)
    (tmp_path / "groundwire.toml").write_text(f'{name}_file = "secret"\n')
    from_toml = load_settings({}, tmp_path)
    for settings in (from_environment, from_toml):
        assert getattr(settings, name).get_secret_value() == value


def test_the_files_that_hold_secrets_are_known(tmp_path: Path) -> None:
    """Those that are named, and groundwire.toml where a secret stands in it; the environment wins."""
    (tmp_path / "groundwire.toml").write_text('embeddings_key = "k"\nredis_url = "redis://a"\n')
    assert secret_files({"GROUNDWIRE_REDIS_URL": "redis://b"}, tmp_path) == {
        "embeddings_key": tmp_path / "groundwire.toml"
    }
    assert secret_files({"GROUNDWIRE_REDIS_URL_FILE": "/run/url"}, tmp_path)["redis_url"] == Path(
        "/run/url"
    )


@pytest.mark.parametrize("url", [f"s3://key:{SECRET}@bucket", f"gs://key:{SECRET}@bucket"])
def test_storage_takes_no_password_in_its_url(tmp_path: Path, url: str) -> None:
    """Its own variables have it; what is refused isn't repeated."""
    with pytest.raises(Misconfigured, match="GROUNDWIRE_CORPUS_URL") as caught:
        load_settings({"GROUNDWIRE_CORPUS_URL": url}, tmp_path)
    assert SECRET not in str(caught.value)


def test_a_missing_secret_file_is_named(tmp_path: Path) -> None:
    """The message says which variable, which file, and why."""
    with pytest.raises(Misconfigured, match=r"GROUNDWIRE_REDIS_URL_FILE: .*gone cannot be read"):
        load_settings({"GROUNDWIRE_REDIS_URL_FILE": "gone"}, tmp_path)


def test_the_url_and_its_file_together_are_refused(tmp_path: Path) -> None:
    """Two answers to one question are an error, in one source."""
    env = {"GROUNDWIRE_REDIS_URL": "redis://a", "GROUNDWIRE_REDIS_URL_FILE": "url"}
    with pytest.raises(Misconfigured, match="both set"):
        load_settings(env, tmp_path)


def test_a_url_file_in_the_environment_wins_over_a_url_in_the_file(tmp_path: Path) -> None:
    """Sources win as a whole: the file's URL doesn't compete with the environment's file."""
    (tmp_path / "groundwire.toml").write_text('redis_url = "redis://file"\n')
    (tmp_path / "url").write_text("redis://environment")
    settings = load_settings({"GROUNDWIRE_REDIS_URL_FILE": "url"}, tmp_path)
    assert settings.redis_url is not None
    assert settings.redis_url.get_secret_value() == "redis://environment"


def test_nothing_that_prints_settings_prints_the_password(tmp_path: Path) -> None:
    """Secrets are redacted everywhere they could be printed."""
    env = {"GROUNDWIRE_REDIS_URL": f"redis://app:{SECRET}@host:6379/1"}
    settings = load_settings(env, tmp_path)
    shown = settings.redacted()
    assert shown["redis_url"] == "redis://app:***@host:6379/1"
    assert SECRET not in f"{settings} {settings!r} {settings.model_dump_json()} {shown}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://:pw@host/0", "redis://:***@host/0"),
        ("rediss://app:p@ss:w/rd@host", "rediss://app:***@host"),
        ("unix://:pw@/tmp/a.sock?db=1", "unix://:***@/tmp/a.sock?db=1"),
        ("unix:///tmp/a@b.sock?password=pw&db=1", "unix:///tmp/a@b.sock?password=***&db=1"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("cannot reach redis://:pw@host/0 now", "cannot reach redis://:***@host/0 now"),
    ],
)
def test_a_password_in_a_url_is_replaced(text: str, shown: str) -> None:
    """In a URL alone and in a sentence, with the host still there to read."""
    assert redact_url(text) == shown


def test_every_setting_is_documented() -> None:
    """docs/settings.md lists each setting with its variable, default and meaning."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+?) \| (.+?) \|$", PAGE.read_text(), re.M)
    assert [row[0] for row in rows] == list(Settings.model_fields)
    for name, variable, default, meaning in rows:
        field = Settings.model_fields[name]
        assert variable == f"GROUNDWIRE_{name.upper()}"
        if not field.is_required():
            assert default == ("unset" if field.default is None else f"`{field.default}`")
        assert field.description
        assert meaning.startswith(field.description.rstrip("."))
