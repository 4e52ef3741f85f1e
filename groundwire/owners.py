"""The import guard: `agents`, `bus` and `contracts` are ours, and no other distribution's.

Other packages install under these names (openai-agents is `agents`), and two wheels merge silently
in site-packages. Runs at the start of every process, before the first import of any of them: only
the standard library, and no metadata is read unless a folder on the path has one of the names.
"""

import re
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

__all__ = ["check_owners", "foreign_owner"]

NAMES = ("agents", "bus", "contracts")
OURS = "groundwire"
ROOT = Path(__file__).resolve().parent.parent

_OWNED = re.compile(rb"^\"?(agents|bus|contracts)(?:/|\.py\b|\s*$)", re.MULTILINE)


def check_owners() -> None:
    """Raise Misconfigured, naming the stranger, unless the three names are ours alone."""
    complaint = foreign_owner()
    if complaint is not None:
        raise _misconfigured(complaint)


def foreign_owner() -> str | None:
    """What is wrong with the owners of our names and what to do about it; None when all is well.

    For entry points, that must say so before they import anything of ours.
    """
    for distribution, name in _other_distributions():
        return (
            f"the package {distribution} also installs as `{name}`, and the two can't share an "
            f"environment: `pip uninstall {distribution}` and then `pip install --force-reinstall "
            f"{OURS}`, or install groundwire into an environment of its own"
        )
    for name in NAMES:
        found = _location(name)
        if found != ROOT / name:
            return (
                f"`import {name}` finds {found or 'nothing'} instead of {ROOT / name}: "
                "rename or remove that one, take its folder off PYTHONPATH, or run the `groundwire` "
                "command (`python -P -m …`), which leaves out the folder you are in"
            )
    return None


def _location(name: str) -> Path | None:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).resolve()
    return file.parent if file.name == "__init__.py" else file


def _other_distributions() -> list[tuple[str, str]]:
    """(distribution, name) of everyone else whose files are under one of our names."""
    found: list[tuple[str, str]] = []
    for entry in dict.fromkeys(sys.path):
        folder = Path(entry)
        if any((folder / name).exists() or (folder / f"{name}.py").exists() for name in NAMES):
            for pattern in ("*.dist-info/RECORD", "*.egg-info/top_level.txt"):
                found += [claim for record in folder.glob(pattern) for claim in _claims(record)]
    return found


def _claims(record: Path) -> list[tuple[str, str]]:
    owner = record.parent.name.split("-")[0].removesuffix(".egg").replace("_", "-")
    if owner.lower() == OURS or owner.startswith("~"):  # ~: what pip couldn't delete
        return []
    try:
        match = _OWNED.search(record.read_bytes())
    except OSError:
        return []
    return [(owner, match[1].decode())] if match else []


def _misconfigured(message: str) -> Exception:
    """Our Misconfigured, even when `contracts` is someone else's."""
    if _location("contracts") == ROOT / "contracts":
        from contracts.errors import Misconfigured

        return Misconfigured(message)
    spec = spec_from_file_location("groundwire_errors", ROOT / "contracts" / "errors.py")
    assert spec is not None
    assert spec.loader is not None
    errors = module_from_spec(spec)
    spec.loader.exec_module(errors)
    error: Exception = errors.Misconfigured(message)
    return error
