"""What expressions of PromQL ask for, and what a page of metrics has."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import promql_parser as promql
from prometheus_client.parser import text_string_to_metric_families

_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}
_OF_PROMETHEUS = {"up": {"job", "instance"}}
_INTERVAL = "$__rate_interval"  # Grafana's; PromQL knows durations alone


@dataclass
class Asked:
    """Names of series, and of the labels that they are picked and grouped by, of one expression."""

    names: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)

    def see(self, node: promql.Expr) -> None:
        """Take over what a node of the expression names."""
        if isinstance(node, promql.MatrixSelector):
            node = node.vector_selector
        if isinstance(node, promql.VectorSelector):
            assert node.name is not None
            self.names.add(node.name)
            self.labels |= {matcher.name for matcher in node.matchers.matchers}
        if isinstance(node, promql.AggregateExpr) and node.modifier is not None:
            self.labels |= set(node.modifier.labels)


def asked(expression: str) -> Asked:
    """What it asks for; an error where it isn't PromQL."""
    found = Asked()
    promql.walk(promql.parse(expression.replace(_INTERVAL, "5m")), found.see)
    return found


def exported(page: str) -> dict[str, set[str]]:
    """Every series that a page of metrics has or, from zero on, will have, with the labels it is seen with."""
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(page):
        names = [family.name + suffix for suffix in _SUFFIXES[family.type]]
        labels = {label for sample in family.samples for label in sample.labels}
        found |= {name: found.get(name, set()) | labels for name in names}
    return found


def unanswerable(expressions: Iterable[str], series: dict[str, set[str]]) -> list[str]:
    """Those that name a series or a label which nobody exports."""
    known = series | _OF_PROMETHEUS
    wrong = []
    for expression in expressions:
        one = asked(expression)
        labels: set[str] = set().union(*(known.get(name, set()) for name in one.names))
        if not one.names <= known.keys() or not one.labels <= labels:
            wrong.append(expression)
    return wrong
