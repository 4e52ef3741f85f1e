"""The picture of the flow, drawn from the topology: what README.md shows."""

from contracts import OUTCOMES, Topology


def mermaid(topology: Topology) -> str:
    """A flowchart: stages as boxes, on each arrow the stream and the messages that travel on it."""
    reader = {stage.consumes: stage.name for stage in topology.stages}
    entry = topology.entry
    names = ", ".join(kind.__name__ for kind in entry.accepts)
    lines = [
        "flowchart LR",
        f'    client([client]) -- "{entry.consumes}: {names}" --> {entry.name}',
    ]
    for stage in topology.stages:
        for stream in stage.next_streams:
            kinds = [kind.__name__ for kind, target in stage.emits.items() if target == stream]
            label = f"{stream}: {', '.join(kinds)}"
            lines.append(f'    {stage.name} -- "{label}" --> {reader[stream]}')
    last = topology.stages[-1].name
    lines += [
        f'    {last} --> {outcome}(["results.{outcome}"])'
        for outcome in OUTCOMES
        if outcome != "failed"
    ]
    lines.append(
        '    any(["any stage, out of attempts or time"]) -.-> failed(["results.failed, dead"])'
    )
    return "\n".join(lines)
