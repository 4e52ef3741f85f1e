"""What a process holds in memory, as the kernel counts it."""

from pathlib import Path


def memory_of(pid: int) -> dict[str, float]:
    """Resident, private and shared megabytes of a process."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kb = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    private = kb["Private_Clean"] + kb["Private_Dirty"]
    parts = {"resident": kb["Rss"], "private": private, "shared_out": kb["Pss"] - private}
    return {name: round(value / 1024, 1) for name, value in parts.items()}
