"""A server of one's own by its URL: user and password, a database number, TLS; the password stays a secret."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from e2e.machine import HANDBOOK, Home, eventually, running_up
from tls_front import Papers, tls_front

from groundwire.embedded.binary import find_binary

from .conftest import Commands

pytestmark = pytest.mark.server

PASSWORD = "s3cret/p@ss:word"
QUESTION = "Can I get a refund on an annual plan?"


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
        variables = {
            "GROUNDWIRE_REDIS_URL": url,
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


@pytest.mark.parametrize(
    "words",
    [
        ["ask", QUESTION, "--trace"],
        ["ask", QUESTION, "--trace", "--json"],
        ["publish", "-"],
        ["tail", "--after", "0", "--limit", "1"],
        ["result", "0-unknown", "--timeout", "0.1"],
        ["status"],
        ["status", "--json"],
        ["dead", "list"],
        ["dead", "show", "0/1-0"],
        ["verify"],
        ["verify", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["ingest", HANDBOOK],
        ["up"],
        ["worker", "sing"],
    ],
    ids=lambda words: " ".join(map(str, words[:3])).replace(str(HANDBOOK), "handbook"),
)
def test_no_command_prints_the_password(on_own_server: Commands, words: list[object]) -> None:
    """Whatever a command says, on either stream, in words or as JSON."""
    done = on_own_server(*words, stdin=f"{QUESTION}\n")
    assert_no_secret(done.out + done.err)
    assert done.out + done.err
    assert done.code != 3


def test_no_file_and_no_command_line_holds_the_password(own: Home) -> None:
    """Logs, the state file, what `up` said, and what `ps` shows of anyone."""
    files = [file for file in own.folder.rglob("*") if file.is_file()]
    assert own.path / "system.json" in files
    for file in files:
        assert_no_secret(file.read_text(errors="replace"))
    listing = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True)
    assert_no_secret(listing.stdout)
    assert "gw:***@localhost" in own.said()


def test_the_url_may_come_from_a_file_or_from_groundwire_toml(
    own: Home,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`GROUNDWIRE_REDIS_URL_FILE`, `redis_url` and `redis_url_file` name the same server."""
    url, *papers = own.variables
    (tmp_path / "url").write_text(url[1] + "\n")
    (tmp_path / "groundwire.toml").write_text(f'redis_url = "{url[1]}"\n')
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
