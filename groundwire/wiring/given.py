"""An intents file that was given explicitly: read again whenever it is another."""

from collections.abc import Callable
from pathlib import Path

from contracts import Misconfigured
from groundwire import intents as intents_file

Stamp = tuple[int, int, int]


class GivenIntents:
    """The text of a file, valid at every moment: a fault in a changed file is told, and the last valid text stays."""

    def __init__(self, path: Path, on_fault: Callable[[str], None] = lambda fault: None) -> None:
        """Misconfigured if the file is faulty now."""
        self._path = path
        self._on_fault = on_fault
        self._stamp = self._now()
        self._text = self._read()

    def text(self) -> str:
        """The text that holds now: a `stat`, and a read when the file has changed."""
        stamp = self._now()
        if stamp is not None and stamp != self._stamp:
            self._stamp = stamp
            try:
                self._text = self._read()
            except Misconfigured as fault:
                self._on_fault(str(fault))
        return self._text

    def _now(self) -> Stamp | None:
        try:
            seen = self._path.stat()
        except OSError:
            return None
        return seen.st_mtime_ns, seen.st_ino, seen.st_size

    def _read(self) -> str:
        text = intents_file.read_text(self._path)
        intents_file.parse(text, str(self._path))
        return text
