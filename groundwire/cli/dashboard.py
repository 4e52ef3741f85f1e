"""`groundwire dashboard`: the Grafana dashboard of a system."""

import typer

from .codes import ExitCode
from .context import write

EPILOG = """Examples:

  groundwire dashboard > dashboard.json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("dashboard", epilog=EPILOG)(dashboard)


def dashboard() -> int:
    """Print a Grafana dashboard (JSON) of what workers and `status --serve` export. Needs no system."""
    write(text())
    return ExitCode.ANSWERED


def text() -> str:
    """The document as examples/deployment/metrics/dashboard.json has it."""
    import json

    from groundwire.dashboard import document

    return json.dumps(document(), indent=2, ensure_ascii=False)
