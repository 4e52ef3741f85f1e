"""Whether traces are wanted, and whether they can be had: of the environment alone."""

from collections.abc import Mapping
from importlib.util import find_spec

PACKAGES = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
SYSTEM = "redis"
"""What `messaging.system` is."""
EXPORTER = "OTEL_TRACES_EXPORTER"


def is_wanted(env: Mapping[str, str]) -> bool:
    """Whether the variables name somewhere to send traces to, and don't switch them off."""
    if env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    chosen = env.get(EXPORTER, "").strip().lower()
    return chosen != "none" and bool(chosen or any(env.get(name) for name in ENDPOINTS))


def fault_of(env: Mapping[str, str]) -> str | None:
    """Why traces that are wanted can't be had."""
    chosen = env.get(EXPORTER, "").strip().lower()
    if chosen not in ("", "otlp"):
        return f"{EXPORTER}={chosen}: only `otlp` is known, and `none`"
    protocol = next((env[name] for name in PROTOCOLS if env.get(name)), "http/protobuf")
    if protocol != "http/protobuf":
        return f"OTLP by {protocol}: only http/protobuf is spoken (a collector's port 4318)"
    if not all(_is_installed(name) for name in PACKAGES):
        return "the packages that export traces are missing: install groundwire[otel]"
    return None


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
