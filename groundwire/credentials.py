"""A folder from which each process gets its own URL of the server, and the server its users.

    passwords            of all, for whoever manages them; they stay when the folder is written again
    server/users.acl     for the server: hashes
    server/password      of `default`, for the server's own health check
    USER/redis-url       for the processes of that user
    USER/password        for programs that want it by itself

The folder and what is in it are its owner's alone, but for `server/`: the server runs as somebody else, and what it is
handed is that one folder. Containers of ours run as the owner, and are handed one user's folder each. No line ends in
those files: what hands them on, as Kubernetes does, hands on every byte.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from contracts.errors import Invalid, Misconfigured

from .files import replace_file
from .passwords import make_passwords, read_passwords

__all__ = ["url_of", "write_credentials"]

ADMIN = "default"
FOR_THE_SERVER, FOR_ITS_OWNER = 0o444, 0o400


def write_credentials(
    folder: Path, url: str, users: Iterable[str], acl: Callable[[Mapping[str, str]], str]
) -> Mapping[str, str]:
    """Make the folder, or bring it up to date: users that are new get a password, the others keep theirs."""
    names = [*users, ADMIN]
    url_of(ADMIN, "", url)  # a bad one is refused before anything is written
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        words = _passwords(folder / "passwords", names)
        urls = {name: url_of(name, words[name], url) for name in names}
        _write(folder / "server" / "users.acl", f"{acl(words)}\n", FOR_THE_SERVER)
        _write(folder / "server" / "password", words[ADMIN], FOR_THE_SERVER)
        for name, own in urls.items():
            _write(folder / name / "redis-url", own)
            _write(folder / name / "password", words[name])
    except OSError as error:
        raise Misconfigured(f"{error.filename}: {error.strerror}") from error
    return words


def url_of(user: str, password: str, url: str) -> str:
    """The server's URL for one of its users; Invalid if it names one already."""
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise Invalid("the server's URL must name no user: each gets a URL of its own")
    return urlunsplit(parts._replace(netloc=f"{user}:{quote(password, safe='')}@{parts.netloc}"))


def _passwords(path: Path, names: Iterable[str]) -> dict[str, str]:
    known = read_passwords(path) if path.exists() else {}
    new = [name for name in names if name not in known]
    if not new:
        return known
    made = path.with_suffix(".new")
    made.unlink(missing_ok=True)
    words = make_passwords(made, new, known)
    made.replace(path)
    return words


def _write(path: Path, text: str, mode: int = FOR_ITS_OWNER) -> None:
    path.parent.mkdir(mode=0o755, exist_ok=True)
    replace_file(path, text.encode(), mode=mode)
