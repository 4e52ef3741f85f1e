"""`groundwire asyncapi`: what travels on which stream, for other programs and their generators."""

import typer

from .codes import ExitCode
from .context import write

EPILOG = """Examples:

  groundwire asyncapi > asyncapi.json

  groundwire asyncapi | jq '.channels | keys'
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("asyncapi", epilog=EPILOG)(asyncapi)


def asyncapi() -> int:
    """Print the AsyncAPI 3 document (JSON) of every stream and message. Needs no system."""
    write(text())
    return ExitCode.ANSWERED


def text() -> str:
    """The document as docs/asyncapi.json has it."""
    import json
    from importlib.metadata import version

    from groundwire.asyncapi import document

    return json.dumps(document(version("groundwire")), indent=2, ensure_ascii=False)
