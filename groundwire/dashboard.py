"""The Grafana dashboard of a system, made from a table of what is asked of Prometheus.

Made, not drawn by hand: every expression is here once, where a test holds its names against what workers export.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Panel", "Target", "document", "panels"]

Unit = Literal["short", "s", "reqps"]
WIDTH, HEIGHT, STAT_HEIGHT = 8, 8, 4
COLUMNS = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True)
class Target:
    """One expression, and what its lines are called."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """One picture. `alarm`: the number from which a stat is red."""

    title: str
    about: str
    unit: Unit
    targets: tuple[Target, ...]
    alarm: float | None = None

    @property
    def is_stat(self) -> bool:
        """Whether it is one number, not lines over time."""
        return self.alarm is not None


@dataclass(frozen=True)
class Row:
    """Panels side by side, under a title."""

    title: str
    panels: tuple[Panel, ...]


def _of_stream(metric: str) -> str:
    """Of a stage, over its lanes. Each worker of it says the same: the most of any, not the sum."""
    return f"sum by (stage) (max by (stage, stream, lane) ({metric}{{{PICKED}}}))"


def _rate(metric: str, *labels: str, picked: str = "") -> str:
    chosen = f"{{{picked}}}" if picked else ""
    return f"sum by ({', '.join(labels)}) (rate({metric}{chosen}[$__rate_interval]))"


def _quantile(share: float, metric: str) -> str:
    return f"histogram_quantile({share}, {_rate(f'{metric}_bucket', 'le', 'stage', picked=PICKED)})"


def _stat(title: str, about: str, expression: str, alarm: float, unit: Unit = "short") -> Panel:
    return Panel(title, about, unit, (Target(expression, title),), alarm)


def _lines(title: str, about: str, unit: Unit, *targets: tuple[str, str]) -> Panel:
    return Panel(title, about, unit, tuple(Target(*one) for one in targets))


PICKED = 'stage=~"$stage"'
STAGE = "{{stage}}"
ROWS = (
    Row(
        "Now",
        (
            _stat("Server down", "1 if it doesn't answer.", "1 - min(groundwire_server_up)", 1),
            _stat(
                "Lanes out of reach",
                "Their server doesn't answer; the others go on.",
                "max(groundwire_unreachable_lanes)",
                1,
            ),
            _stat(
                "Stages with work and no worker",
                "Start a worker of that stage.",
                "sum(groundwire_stage_unattended)",
                1,
            ),
            _stat(
                "Oldest entry",
                "A query fails at its deadline, 600 s unless set otherwise.",
                "max(groundwire_stage_oldest_entry_seconds)",
                60,
                "s",
            ),
            _stat(
                "Open queries",
                "Without a result yet; above 10,000, unless set otherwise, submit refuses.",
                "max(groundwire_queries_open)",
                8000,
            ),
            _stat(
                "Dead letters",
                "Kept: groundwire dead list.",
                "max(groundwire_dead_letter_records)",
                1,
            ),
            _stat(
                "Workers that can't be scraped",
                "Of those that Prometheus knows.",
                'count(up{job="groundwire"} == 0) or vector(0)',
                1,
            ),
        ),
    ),
    Row(
        "Queries",
        (
            _lines(
                "Accepted and ended",
                "A second.",
                "reqps",
                ("sum(rate(groundwire_queries_accepted_total[$__rate_interval]))", "accepted"),
                (_rate("groundwire_queries_total", "outcome"), "{{outcome}}"),
            ),
            _lines(
                "Results by stage",
                "Who wrote them: format, and any stage for those that failed.",
                "reqps",
                (
                    _rate("groundwire_results_total", "stage", "outcome", picked=PICKED),
                    "{{stage}} {{outcome}}",
                ),
            ),
            _lines(
                "Open, by lane",
                "Accepted, without a result yet.",
                "short",
                ("max by (lane) (groundwire_open_queries)", "lane {{lane}}"),
            ),
        ),
    ),
    Row(
        "Work of each stage",
        (
            _lines(
                "Backlog",
                "Unfinished entries, those in hand among them.",
                "short",
                (_of_stream("groundwire_backlog_entries"), STAGE),
            ),
            _lines(
                "Oldest entry",
                "Its age.",
                "s",
                (f"max by (stage) (groundwire_oldest_entry_seconds{{{PICKED}}})", STAGE),
            ),
            _lines(
                "Workers",
                "Alive, as the server knows.",
                "short",
                (f"max by (stage) (groundwire_stage_workers{{{PICKED}}})", STAGE),
            ),
            _lines(
                "In hand",
                "Of all workers of the stage.",
                "short",
                (f"sum by (stage) (groundwire_in_flight_deliveries{{{PICKED}}})", STAGE),
            ),
            _lines(
                "Retries that aren't due yet",
                "They come back by themselves.",
                "short",
                (_of_stream("groundwire_delayed_entries"), STAGE),
            ),
            _lines(
                "As the server counts",
                "Waiting: taken by nobody yet. Pending: in hands, also in those of a worker that died.",
                "short",
                (f"groundwire_stage_waiting_entries{{{PICKED}}}", "{{stage}} waiting"),
                (f"groundwire_stage_pending_entries{{{PICKED}}}", "{{stage}} pending"),
                (f"groundwire_stage_delayed_entries{{{PICKED}}}", "{{stage}} delayed"),
            ),
        ),
    ),
    Row(
        "Time",
        (
            _lines(
                "From a message's making to its settling",
                "Median and 95th percentile.",
                "s",
                (_quantile(0.5, "groundwire_hop_seconds"), "{{stage}} p50"),
                (_quantile(0.95, "groundwire_hop_seconds"), "{{stage}} p95"),
            ),
            _lines(
                "In the handler",
                "Median and 95th percentile.",
                "s",
                (_quantile(0.5, "groundwire_handler_seconds"), "{{stage}} p50"),
                (_quantile(0.95, "groundwire_handler_seconds"), "{{stage}} p95"),
            ),
            _lines(
                "How late the loop came round",
                "99th percentile: what holds it up holds up everything of that worker.",
                "s",
                (_quantile(0.99, "groundwire_loop_lag_seconds"), STAGE),
            ),
        ),
    ),
    Row(
        "What went wrong",
        (
            _lines(
                "Deliveries settled",
                "fenced: another worker had it. retried: not now; dead: not ever; parked: not by this version.",
                "reqps",
                (
                    _rate("groundwire_deliveries_total", "stage", "outcome", picked=PICKED),
                    "{{stage}} {{outcome}}",
                ),
            ),
            _lines(
                "Delivered again",
                "After a worker died, or gave back what it hadn't begun.",
                "reqps",
                (_rate("groundwire_redeliveries_total", "stage", picked=PICKED), STAGE),
            ),
            _lines(
                "Dead letters",
                "By reason.",
                "reqps",
                (
                    _rate("groundwire_dead_letters_total", "stage", "reason", picked=PICKED),
                    "{{stage}} {{reason}}",
                ),
            ),
        ),
    ),
)


def panels() -> Iterator[Panel]:
    """All of them, in order."""
    for row in ROWS:
        yield from row.panels


def document() -> dict[str, object]:
    """The dashboard as Grafana imports it: the same each time, so that it can be compared."""
    return {
        "uid": "groundwire",
        "title": "Groundwire",
        "tags": ["groundwire"],
        "schemaVersion": 41,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "",
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": [_choice_of_source(), _choice_of_stage()]},
        "panels": list(_laid_out()),
    }


def _choice_of_source() -> dict[str, object]:
    return {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
    }


def _choice_of_stage() -> dict[str, object]:
    query = "label_values(groundwire_stage_workers, stage)"
    return {
        "name": "stage",
        "type": "query",
        "datasource": SOURCE,
        "definition": query,
        "query": {"query": query, "refId": "stage"},
        "refresh": 2,
        "sort": 0,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def _laid_out() -> Iterator[dict[str, object]]:
    """Rows from top to bottom, their panels from left to right, each with a number of its own."""
    number = top = 0
    for row in ROWS:
        number += 1
        place = {"h": 1, "w": COLUMNS, "x": 0, "y": top}
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": place,
        }
        top += 1
        for place in _places(row.panels, top):
            panel = row.panels[place.pop("index")]
            number += 1
            top = max(top, place["y"] + place["h"])
            yield {"id": number, "gridPos": place, **_drawn(panel)}


def _places(row: Sequence[Panel], top: int) -> Iterator[dict[str, int]]:
    for index, panel in enumerate(row):
        width = COLUMNS // len(row) if panel.is_stat else WIDTH
        height = STAT_HEIGHT if panel.is_stat else HEIGHT
        line, place = divmod(index, COLUMNS // width)
        yield {
            "index": index,
            "h": height,
            "w": width,
            "x": place * width,
            "y": top + line * height,
        }


def _drawn(panel: Panel) -> dict[str, object]:
    targets = [
        {
            "refId": chr(ord("A") + number),
            "datasource": SOURCE,
            "expr": target.expression,
            "legendFormat": target.legend,
            "instant": panel.is_stat,
            "range": not panel.is_stat,
        }
        for number, target in enumerate(panel.targets)
    ]
    return {
        "type": "stat" if panel.is_stat else "timeseries",
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "targets": targets,
        "fieldConfig": {"defaults": _field(panel), "overrides": []},
        "options": _options(panel),
    }


def _field(panel: Panel) -> dict[str, object]:
    if not panel.is_stat:
        return {"unit": panel.unit, "min": 0, "custom": {"lineWidth": 1, "fillOpacity": 10}}
    steps = [{"color": "green", "value": None}, {"color": "red", "value": panel.alarm}]
    return {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": steps}}


def _options(panel: Panel) -> dict[str, object]:
    if panel.is_stat:
        reduced = {"calcs": ["lastNotNull"], "fields": "", "values": False}
        return {"colorMode": "background", "graphMode": "none", "reduceOptions": reduced}
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
    return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
