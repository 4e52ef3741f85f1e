"""Prometheus, its alerts, the dashboard: they ask for what is exported, of every stage there is."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from bus_system import hop

from bus import Became, StageStatus, SystemStatus, Vitals
from contracts import OUTCOMES, TOPOLOGY
from groundwire.cli.dashboard import text
from groundwire.dashboard import panels
from groundwire.metrics import WorkerMetrics
from groundwire.whole import Whole

from .compose import HEALTH_PORT, METRICS, mounts, services
from .queries import exported, unanswerable
from .repository import ROOT

FOLDER = METRICS.parent / "metrics"
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"][
    0
]["rules"]
EXPRESSIONS = [target.expression for panel in panels() for target in panel.targets]


def pages() -> list[str]:
    """What a worker and the whole export, once everything has happened that can be counted."""
    worker = WorkerMetrics("critic", lambda: [Vitals("critic", 0, "drafts", read_at=0.0)])
    worker.settled(hop(Became("dead", "permanent", "failed"), is_redelivery=True))
    worker.lagged(0.1)
    whole = Whole()
    stages = (StageStatus("critic", 1, 0, 0, 0, None),)
    whole.see(SystemStatus(stages, dict.fromkeys(OUTCOMES, 1), accepted=4, open=0, dead=1))
    return [one.text()[1].decode() for one in (worker, whole)]


def test_the_committed_dashboard_is_what_is_printed() -> None:
    """`groundwire dashboard > examples/deployment/metrics/dashboard.json` makes it anew."""
    assert (FOLDER / "dashboard.json").read_text(encoding="utf-8") == text() + "\n"


def test_nothing_is_asked_for_that_nobody_exports() -> None:
    """Each name and each label of dashboard and alerts is one of a worker's or of the whole's."""
    series = {name: labels for page in pages() for name, labels in exported(page).items()}
    assert unanswerable(EXPRESSIONS, series) == []
    assert unanswerable([rule["expr"] for rule in RULES], series) == []
    wrong = ["groundwire_backlog", "sum by (query) (groundwire_backlog_entries)", "up{stage='x'}"]
    assert unanswerable(wrong, series) == wrong


def test_the_dashboard_shows_every_metric_there_is() -> None:
    """What is worth exporting is worth a look: a new metric gets its panel."""
    families = {
        line.split()[2] for page in pages() for line in page.splitlines() if "# TYPE" in line
    }
    everything = " ".join(EXPRESSIONS)
    assert [name for name in families if name not in everything] == []


def test_panels_neither_overlap_nor_leave_the_page() -> None:
    """Each has a number and a place of its own."""
    drawn = json.loads(text())["panels"]
    assert len({panel["id"] for panel in drawn}) == len(drawn)
    taken: set[tuple[int, int]] = set()
    for place in (panel["gridPos"] for panel in drawn):
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken
        taken |= cells


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_an_alert_says_how_bad_it_is_and_what_happened(rule: dict[str, Any]) -> None:
    """Critical ones wake somebody; each has a sentence."""
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"]["summary"].endswith(".")
    assert rule["alert"].startswith("Groundwire")


def test_every_service_is_scraped() -> None:
    """Prometheus asks each stage's containers and the whole, at the port that they listen on."""
    workers, whole = _read("prometheus.yml")["scrape_configs"]
    (found,) = workers["dns_sd_configs"]
    assert found["names"] == [stage.name for stage in TOPOLOGY.stages]
    assert str(found["port"]) == HEALTH_PORT
    assert whole["static_configs"] == [{"targets": [f"status:{HEALTH_PORT}"]}]
    assert services(METRICS)["status"]["command"][-1] == HEALTH_PORT


def test_what_the_overlay_mounts_exists_and_is_where_it_is_looked_for() -> None:
    """Files of the checkout, at the paths that Prometheus and Grafana are told."""
    known = services(METRICS)
    for service in known.values():
        for source in mounts(service).values():
            assert not source.startswith(".") or (ROOT / source).is_file(), source
    places = {
        Path(source).name: Path(mount)
        for service in known.values()
        for mount, source in mounts(service).items()
    }
    assert f"--config.file={places['prometheus.yml']}" in known["prometheus"]["command"]
    assert places["alerts.yml"].parent == places["prometheus.yml"].parent
    (provider,) = _read("grafana/dashboards.yml")["providers"]
    assert provider["options"]["path"] == str(places["dashboard.json"].parent)
    home = known["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == str(places["dashboard.json"])
    (source,) = _read("grafana/datasources.yml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert (
        source["jsonData"]["timeInterval"] == _read("prometheus.yml")["global"]["scrape_interval"]
    )


def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
