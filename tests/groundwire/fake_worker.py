"""A worker that only notes what happens to it: `fake_worker.py MODE NOTES CONSUMER LIFELINE`.

Modes: `steady` leaves on SIGTERM, `stubborn` doesn't, `broken` ends at once with code 9.
"""

import os
import signal
import sys
from pathlib import Path

from groundwire.lifeline import watch_lifeline


def main() -> None:
    mode, notes, consumer, lifeline = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

    def note(text: str) -> None:
        with notes.open("a") as file:
            file.write(f"{consumer} {text}\n")

    def on_signal(number: int, _frame: object) -> None:
        note(signal.Signals(number).name)
        if number == signal.SIGTERM and mode != "stubborn":
            os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    note("started")
    sys.stderr.write(f"hello from {consumer}\n")
    sys.stderr.flush()
    if mode == "broken":
        os._exit(9)
    watch_lifeline(lifeline, lambda: note("EOF"), limit_s=0.5)
    while True:
        signal.pause()


main()
