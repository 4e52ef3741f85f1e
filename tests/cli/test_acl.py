"""`groundwire acl`: lines that a server takes, hashes instead of passwords."""

import hashlib
import shlex
import stat

import pytest

from bus.backend import UrlBackend
from bus.wire import Wire
from groundwire.embedded import TemporaryServer

from .conftest import Commands

USERS = [
    "understand",
    "retrieve",
    "synthesize",
    "critic",
    "format",
    "client",
    "observer",
    "scaler",
    "operator",
]


def test_passwords_are_made_into_a_private_file_and_printed_as_hashes(nothing_up: Commands) -> None:
    """What is printed may lie in a repository; what is in the file may not, and is never overwritten."""
    done = nothing_up("acl", "--new", "passwords")
    file = nothing_up.home.folder / "passwords"
    words = dict(line.split() for line in file.read_text().splitlines())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [line.split()[1] for line in done.out.splitlines()] == [*USERS, "default"]
    for user, word in words.items():
        assert word not in done.out + done.err
        assert f"user {user} reset on #{hashlib.sha256(word.encode()).hexdigest()} " in done.out
    assert (done.code, done.err) == (0, "")
    again = nothing_up("acl", "--new", "passwords")
    assert (again.code, again.out) == (2, "")


def test_without_passwords_it_says_that_nobody_can_log_in(nothing_up: Commands) -> None:
    """No user is ever printed that needs no password."""
    done = nothing_up("acl")
    assert done.code == 0
    assert "nopass" not in done.out
    assert "without a password" in done.err
    assert "`default` is not in here" in done.err


def test_a_folder_has_a_url_for_each_user_and_keeps_its_passwords(nothing_up: Commands) -> None:
    """Written again, for another server and another set of users, nobody has to log in anew."""
    folder = nothing_up.home.folder / "access"
    done = nothing_up("acl", "--folder", folder, "--url", "redis://valkey:6379/0")
    assert (done.code, done.err) == (0, "")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    passwords = folder / "passwords"
    words = dict(line.split() for line in passwords.read_text().splitlines())
    assert list(words) == [*USERS, "default"]
    for user, word in words.items():
        url = (folder / user / "redis-url").read_text()
        assert url == f"redis://{user}:{word}@valkey:6379/0"
        assert word not in done.out + (folder / "server" / "users.acl").read_text()
        assert (folder / user / "password").read_text() == word
        assert stat.S_IMODE((folder / user / "redis-url").stat().st_mode) == 0o400
    assert (folder / "server" / "password").read_text() == words["default"]
    assert stat.S_IMODE((folder / "server" / "users.acl").stat().st_mode) == 0o444

    passwords.write_text("".join(f"{user} {words[user]}\n" for user in USERS if user != "format"))
    assert nothing_up("acl", "--folder", folder, "--url", "unix:///run/valkey.sock").code == 0
    later = dict(line.split() for line in passwords.read_text().splitlines())
    assert later.keys() == words.keys()
    assert [user for user in USERS if later[user] != words[user]] == ["format"]
    assert (folder / "critic" / "redis-url").read_text().startswith("unix://critic:")


def test_a_url_that_names_a_user_already_is_refused(nothing_up: Commands) -> None:
    """Else all would share it; nothing is written."""
    done = nothing_up("acl", "--folder", "access", "--url", "redis://me:pw@valkey:6379/0")
    assert (done.code, "pw" in done.err) == (2, False)
    assert not (nothing_up.home.folder / "access").exists()


@pytest.mark.parametrize("line", ["format", "format two words", "nobody word"])
def test_a_line_that_means_nothing_is_refused(nothing_up: Commands, line: str) -> None:
    """A typing error leaves no user without its password unnoticed."""
    (nothing_up.home.folder / "passwords").write_text(f"{line}\n")
    done = nothing_up("acl", "--passwords", "passwords")
    assert (done.code, done.out) == (2, "")


@pytest.mark.server
async def test_a_server_takes_what_is_printed(
    nothing_up: Commands, server: TemporaryServer
) -> None:
    """As commands; after that a worker's user may ask after its own stage, and a client's for nothing like it."""
    server.flush()
    printed = nothing_up("acl", "--new", "passwords", "--commands").out.splitlines()
    words = (nothing_up.home.folder / "passwords").read_text().split()
    passwords = dict(zip(words[::2], words[1::2], strict=True))
    wire = Wire(UrlBackend(server.url), 5.0)
    place = server.url.rpartition("@")[2]
    try:
        await wire.call("SET", "gw:{0}:lanes", 1)
        for line in printed[:-1]:  # the last is the tests' own user
            assert await wire.call(*shlex.split(line)) == b"OK"
        url = f"unix://format:{passwords['format']}@{place}"
        wire_as_format = Wire(UrlBackend(url), 5.0)
        assert await wire_as_format.call("GET", "gw:{0}:lanes") == b"1"
        await wire_as_format.close()
    finally:
        await wire.call("ACL", "DELUSER", *USERS)
        await wire.close()
