"""A server of one's own by its URL: user and password, a database number, TLS; the password stays a secret."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from e2e.machine import HANDBOOK, STAGES, START_S, Home, descendants, end, eventually, running_up
from tls_front import Papers, tls_front

from groundwire.embedded.binary import find_binary

from .conftest import Commands
from .every_command import ARGUMENTS, QUESTION, Command, every_command

pytestmark = pytest.mark.server

PASSWORD = "s3cret/p@ss:word"
LOGIN = f"gw:{PASSWORD}"
KEY = "s3cret-key-of-an-endpoint"
EVERY = tuple(every_command())


@contextmanager
def plain_server(folder: Path) -> Iterator[int]:
    """A server program on a TCP port, that knows one user; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    conf = folder / "plain.conf"
    conf.write_text(
        f'port {port}\nbind 127.0.0.1\ndir {folder}\nsave ""\nappendonly yes\n'
        f"user default off\nuser gw on >{PASSWORD} ~gw:* &* +@all\n"
    )
    log = (folder / "plain.log").open("wb")
    with log, subprocess.Popen([find_binary(), conf], stdout=log, stderr=log) as process:
        try:
            eventually(lambda: answers(port), "the plain server")
            yield port
        finally:
            process.terminate()


def answers(port: int) -> bool:
    """Whether the server accepts our user."""
    with suppress(redis.ConnectionError), client(port, 0) as server:
        return bool(server.ping())
    return False


def client(port: int, database: int) -> redis.Redis:
    """A plain client of a database of the server."""
    return redis.Redis(port=port, db=database, username="gw", password=PASSWORD, protocol=2)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server that no one here started for Groundwire."""
    with plain_server(tmp_path_factory.mktemp("plain")) as running:
        yield running


@pytest.fixture(scope="module")
def own(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """`up` on that server, in its database 2, over TLS with certificates on both sides."""
    papers = Papers.make(tmp_path_factory.mktemp("papers"))
    target = f"redis://gw:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/2"
    with tls_front(target, papers.context(asks_clients=True)) as url:
        (papers.folder / "url").write_text(f"{url}\n")
        (papers.folder / "key").write_text(f"{KEY}\n")
        variables = {
            "GROUNDWIRE_REDIS_URL_FILE": str(papers.folder / "url"),
            "GROUNDWIRE_EMBEDDINGS_KEY_FILE": str(papers.folder / "key"),
            "GROUNDWIRE_HEALTH_PORT": "19300",
            "GROUNDWIRE_LOG_LEVEL": "debug",
            "GROUNDWIRE_REDIS_TLS_CA": str(papers.ca),
            "GROUNDWIRE_REDIS_TLS_CERT": str(papers.cert),
            "GROUNDWIRE_REDIS_TLS_KEY": str(papers.key),
        }
        home = Home(tmp_path_factory.mktemp("own"), tuple(variables.items()))
        with running_up(home, "--docs", HANDBOOK):
            yield home


@pytest.fixture
def on_own_server(
    own: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Commands with the URL in their environment."""
    return Commands(own, monkeypatch, capsys)


def assert_no_secret(text: str) -> None:
    """Neither the password as it is nor as a URL spells it."""
    assert PASSWORD not in text
    assert quote(PASSWORD, safe="") not in text
    assert "s3cret" not in text


def test_a_question_is_answered_over_the_server_and_database_of_the_url(
    on_own_server: Commands, port: int
) -> None:
    """Everything lies in database 2, nothing in 0, and no embedded server was started."""
    done = on_own_server("ask", QUESTION, "--json")
    assert (done.code, done.json["status"]) == (0, "approved")
    with client(port, 2) as used, client(port, 0) as unused:
        assert used.dbsize() > 0
        assert unused.dbsize() == 0
    assert not (on_own_server.home.path / "server").exists()


def test_every_command_is_tried() -> None:
    """A new command, or one of a group, is held to the rule below as well."""
    assert {command.name for command in EVERY} == set(ARGUMENTS)


@pytest.mark.parametrize("command", EVERY, ids=lambda command: command.name)
def test_no_command_prints_a_secret(
    own: Home,
    port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: Command,
) -> None:
    """On either stream, in words or as JSON: where all is well, with a wrong password, with the server gone."""
    forms = ([], ["--json"]) if command.has_json else ([],)
    for home in (own, stranger(tmp_path, port, f"gw:{PASSWORD}x"), stranger(tmp_path, 1, LOGIN)):
        commands = Commands(home, monkeypatch, capsys)
        url = home.settings.redis_url
        assert url is not None
        for form in forms:
            given = [
                url.get_secret_value() if word == "URL" else word
                for word in ARGUMENTS[command.name]
            ]
            done = commands(*command.name.split(), *given, *form, stdin=f"{QUESTION}\n")
            assert_no_secret(done.out + done.err)
            assert done.out + done.err
            assert "Traceback" not in done.err


def stranger(folder: Path, port: int, login: str) -> Home:
    """A folder that names a server which lets nobody in by that login, or isn't there."""
    user, _, password = login.partition(":")
    url = f"redis://{user}:{quote(password, safe='')}@127.0.0.1:{port}/2"
    variables = {
        "GROUNDWIRE_REDIS_URL": url,
        "GROUNDWIRE_EMBEDDINGS_KEY": KEY,
        "GROUNDWIRE_LOG_LEVEL": "debug",
    }
    return Home(folder, tuple(variables.items()))


def test_no_file_command_line_environment_or_page_holds_a_secret(own: Home) -> None:
    """Logs, the state file, what `up` said; what `ps` and /proc show of its processes; health and metrics."""
    files = [file for file in own.folder.rglob("*") if file.is_file()]
    assert own.path / "system.json" in files
    for file in files:
        assert_no_secret(file.read_text(errors="replace"))
    listing = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True)
    assert_no_secret(listing.stdout)
    assert "gw:***@localhost" in own.said()
    owner = own.owner()
    assert owner is not None
    for pid in descendants(owner):
        assert_no_secret(Path(f"/proc/{pid}/environ").read_text(errors="replace"))
    pages = list(pages_of(own))
    assert len(pages) == 3 * len(STAGES)
    for page in pages:
        assert_no_secret(page)


def pages_of(home: Home) -> Iterator[str]:
    """What each worker answers on its port."""
    lines = "".join(home.logs().values()).splitlines()
    for line in filter(re.compile("health.listening").search, lines):
        port = json.loads(line)["port"]
        for path in ("livez", "readyz", "metrics"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5) as reply:
                yield reply.read().decode()


def test_up_refuses_another_server_while_it_runs_by_name(own: Home) -> None:
    """Its own connection is to the old one: it says what to do, keeps the URL to itself, and goes on."""
    owner = own.owner()
    assert owner is not None
    file = Path(dict(own.variables)["GROUNDWIRE_REDIS_URL_FILE"])
    url = file.read_text()
    file.write_text(url.replace("/2", "/3"))
    try:
        os.kill(owner, signal.SIGHUP)
        eventually(lambda: '"settings.refused"' in own.said(), "the refusal")
    finally:
        file.write_text(url)
    (line,) = (one for one in own.said().splitlines() if '"settings.refused"' in one)
    assert "can't change while it runs: redis_url; stop it and start it again" in line
    assert_no_secret(line)
    os.kill(owner, signal.SIGHUP)
    eventually(lambda: '"settings.changed"' in own.said(), "what is as before is taken")


@pytest.mark.parametrize("port_given", [True, False], ids=["wrong password", "server gone"])
def test_a_worker_that_is_not_let_in_logs_no_secret(
    own: Home, port: int, tmp_path: Path, *, port_given: bool
) -> None:
    """It waits, and says so; its page says why it isn't ready."""
    home = stranger(tmp_path, port if port_given else 1, f"gw:{PASSWORD}x")
    corpus = (("GROUNDWIRE_CORPUS", str(own.path / "corpus")), ("GROUNDWIRE_HEALTH_PORT", "19400"))
    home = replace(home, variables=(*home.variables, *corpus))
    process = home.start("worker", "critic")
    try:
        eventually(lambda: "start.waiting" in home.said(), "the worker's complaint", START_S)
    finally:
        end(process)
    assert_no_secret(home.said())


def test_the_url_may_come_from_a_file_or_from_groundwire_toml(
    own: Home,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`GROUNDWIRE_REDIS_URL_FILE`, `redis_url` and `redis_url_file` name the same server."""
    file, *papers = own.variables
    url = Path(file[1]).read_text()
    (tmp_path / "url").write_text(url)
    (tmp_path / "groundwire.toml").write_text(f'redis_url = "{url.strip()}"\n')
    plain = Commands(Home(tmp_path, tuple(papers)), monkeypatch, capsys)
    assert plain("ask", QUESTION).code == 0
    (tmp_path / "groundwire.toml").write_text('redis_url_file = "url"\n')
    assert plain("status").code == 0
    (tmp_path / "groundwire.toml").unlink()
    plain.set("GROUNDWIRE_REDIS_URL_FILE", "url")
    assert plain("status").code == 0


@pytest.mark.parametrize("user", ["gw:wrong", "stranger:s3cret", ""])
def test_a_wrong_user_or_password_is_told_without_repeating_it(
    nothing_up: Commands, port: int, user: str
) -> None:
    """No system for whoever isn't let in; exit code 3, and what to look at."""
    nothing_up.set("GROUNDWIRE_REDIS_URL", f"redis://{user}{'@' if user else ''}127.0.0.1:{port}/2")
    done = nothing_up("status")
    assert done.code == 3
    assert "wrong" not in done.err.replace("WRONGPASS", "")
    assert "s3cret" not in done.err
    assert "Traceback" not in done.err
