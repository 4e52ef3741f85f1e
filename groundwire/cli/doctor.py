"""`groundwire doctor`: what is wrong here, why it matters, what to do."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from contracts import Misconfigured
from groundwire.doctor import Finding, examine, judge_traces
from groundwire.settings import secret_files

from .codes import ExitCode
from .context import console, environment, settings, write_json

EPILOG = """Examples:

  groundwire doctor

  groundwire doctor --json
"""
_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog=EPILOG)(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """Check settings, packages, profile, corpus and server. Exit code 1 if something is an error."""
    try:
        known = settings()
    except Misconfigured as error:
        if not as_json:
            raise
        found = Finding("settings", "error", str(error), "docs/settings.md lists what there is")
        write_json({"settings": {}, "findings": [found]})
        return ExitCode.USAGE
    secrets = secret_files(environment(), Path.cwd())
    here = [Finding("settings", "ok", "all known"), judge_traces(environment())]
    findings = [*here, *asyncio.run(examine(known, secrets))]
    if as_json:
        write_json({"settings": known.redacted(), "findings": findings})
    else:
        _show(findings)
    worst = any(finding.level == "error" for finding in findings)
    return ExitCode.FAILED if worst else ExitCode.ANSWERED


def _show(findings: list[Finding]) -> None:
    out = console()
    for finding in findings:
        colour = _COLOURS[finding.level]
        out.print(f"[{colour}]{finding.level:<8}[/{colour}]", end="")
        out.print(f"{finding.check:<12} {finding.what}", markup=False, soft_wrap=True)
        if finding.cure:
            out.print(f"{'':<21}→ {finding.cure}", markup=False, soft_wrap=True)
