"""Passwords of the server's users: made, kept in a file of their own, printed as hashes alone."""

import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from contracts.errors import Misconfigured

__all__ = ["hashed", "make_passwords", "read_passwords"]

_LINE = re.compile(r"(\S+)\s+(\S+)")


def read_passwords(path: Path) -> dict[str, str]:
    """`user password` on each line; empty lines and those that begin with # are skipped."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} can't be read: {error}") from error
    found = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise Misconfigured(f"{path}, line {number}: expected `user password`")
        found[match[1]] = match[2]
    return found


def make_passwords(
    path: Path, users: Iterable[str], known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Write a new file, readable by its owner alone: what is known, and 256 random bits for each other user."""
    made = {**(known or {}), **{user: secrets.token_urlsafe(32) for user in users}}
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Misconfigured(f"{path} can't be made: {error.strerror}") from error
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{user} {password}\n" for user, password in made.items())
    return made


def hashed(passwords: Mapping[str, str]) -> dict[str, str]:
    """What the server keeps of each: its SHA-256, in hexadecimal."""
    return {user: hashlib.sha256(word.encode()).hexdigest() for user, word in passwords.items()}
