import subprocess
import sys
from pathlib import Path

import pytest
from processes import ROOT, environment

from groundwire.owners import foreign_owner

CHECK = "from groundwire.owners import check_owners; check_owners(); print('ours')"


def check(*path: Path) -> str:
    """What the guard says in a fresh process with these folders on its path, in this order."""
    joined = ":".join(map(str, path))
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHECK],
        env=environment(PYTHONPATH=joined),
        capture_output=True,
        text=True,
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def install(folder: Path, distribution: str, *files: str) -> Path:
    """A distribution as an installer leaves it: its files, and the record of them."""
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    record = folder / f"{distribution}-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("".join(f"{file},,\n" for file in (*files, f"{record.parent.name}/RECORD,,")))
    return folder


def copy_of_ours(folder: Path) -> Path:
    """A wheel's worth of Groundwire: enough of it to run the guard."""
    files = ("groundwire/__init__.py", "groundwire/owners.py", "agents/__init__.py")
    errors = ("bus/__init__.py", "contracts/__init__.py", "contracts/errors.py")
    install(folder, "groundwire", *files, *errors)
    for file in ("groundwire/owners.py", "contracts/errors.py"):
        (folder / file).write_text((ROOT / file).read_text())
    return folder


def test_this_checkout_is_all_ours() -> None:
    """The guard is silent where nothing is wrong, editable or as a source checkout."""
    assert foreign_owner() is None
    assert check(ROOT) == "ours"


def test_an_installed_wheel_is_all_ours(tmp_path: Path) -> None:
    """In site-packages our own record is no stranger's."""
    assert check(copy_of_ours(tmp_path)) == "ours"


def test_a_distribution_merged_into_the_same_folder_is_named(tmp_path: Path) -> None:
    """Two wheels that wrote to one `agents` folder: nothing shadows, the records tell."""
    site = install(copy_of_ours(tmp_path), "openai_agents", "agents/__init__.py", "agents/run.py")
    said = check(site)
    assert "Misconfigured" in said
    assert "`agents`" in said
    assert "pip uninstall openai-agents" in said


@pytest.mark.parametrize("name", ["agents", "bus", "contracts"])
def test_a_distribution_that_comes_first_on_the_path_is_named(tmp_path: Path, name: str) -> None:
    """Shadowing is caught before the first import, also of the module that defines the error."""
    said = check(install(tmp_path, "stranger", f"{name}/__init__.py"), ROOT)
    assert "Misconfigured" in said
    assert "the package stranger also installs as" in said


def test_a_single_module_of_our_name_is_a_stranger_too(tmp_path: Path) -> None:
    """bus.py counts like bus/."""
    assert "pip uninstall pybus" in check(ROOT, install(tmp_path, "pybus", "bus.py"))


def test_a_stray_folder_that_shadows_is_named_by_its_path(tmp_path: Path) -> None:
    """A folder that no distribution owns is no less in the way."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").touch()
    assert f"`import agents` finds {tmp_path / 'agents'} instead of" in check(tmp_path, ROOT)


def test_names_that_only_begin_like_ours_are_nobodys_business(tmp_path: Path) -> None:
    """busybox is not bus."""
    files = ("busybox/__init__.py", "agents_sdk/x.py", "x/agents/y.py", "contracts-1.pth")
    assert check(ROOT, install(tmp_path, "stranger", *files)) == "ours"


def test_the_check_is_fast_beside_many_distributions(tmp_path: Path) -> None:
    """It runs at every process start."""
    site = copy_of_ours(tmp_path)
    for number in range(200):
        install(site, f"other{number}", *(f"other{number}/m{i}.py" for i in range(20)))
    code = (
        "import time; from groundwire.owners import check_owners; start = time.perf_counter();"
        "check_owners(); print(time.perf_counter() - start)"
    )
    took = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env=environment(PYTHONPATH=str(site)),
            capture_output=True,
            text=True,
            check=True,
        )
        took.append(float(done.stdout))
    assert min(took) < 0.1, took
