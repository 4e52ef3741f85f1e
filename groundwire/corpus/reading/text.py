"""Bytes into canonical text: one Unicode form, one kind of line end."""


class Undecodable(ValueError):
    """The bytes are no text; says why."""


def decoded(raw: bytes) -> str:
    """The canonical text of these bytes: UTF-8 without a mark, every line end a `\\n`."""
    if b"\0" in raw:
        raise Undecodable("holds NUL bytes, so it is not text")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Undecodable(f"is not UTF-8: byte {error.start} cannot be decoded") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
