"""Traces by OpenTelemetry, exported as the standard OTEL_* variables say. Without them nothing of it is imported."""

from .exporting import Tracing, tracing
from .wanted import PACKAGES, fault_of, is_wanted

__all__ = ["PACKAGES", "Tracing", "fault_of", "is_wanted", "tracing"]
