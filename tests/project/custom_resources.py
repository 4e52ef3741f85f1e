"""What of other projects' resources our manifests use, as JSON schemas: a reduced copy of theirs.

KEDA: https://github.com/kedacore/keda/tree/main/config/crd/bases, the trigger's own fields:
https://keda.sh/docs/latest/scalers/redis-streams/. Prometheus operator:
https://github.com/prometheus-operator/prometheus-operator/tree/main/example/prometheus-operator-crd.
"""

from typing import Any

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 1}
DURATION: dict[str, Any] = {"type": "string", "pattern": r"^\d+(ms|s|m|h)$"}
NUMBER: dict[str, Any] = {"type": "string", "pattern": r"^[1-9]\d*$"}
TEXTS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}


def _of(required: str, **fields: Any) -> dict[str, Any]:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": item}


def _resource(version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = _of("name", name=TEXT, namespace=TEXT, labels=TEXTS)
    opening = {"apiVersion": {"const": version}, "kind": {"const": kind}}
    return _of("apiVersion kind metadata spec", **opening, metadata=metadata, spec=spec)


_POLICY = _of("type value periodSeconds", type=TEXT, value=COUNT, periodSeconds=COUNT)
_RULES = _of(
    "policies",
    stabilizationWindowSeconds={"type": "integer", "minimum": 0, "maximum": 3600},
    policies=_list(_POLICY),
)
_FORMULA = _of(
    "formula target",
    formula=TEXT,
    target=NUMBER,
    activationTarget=TEXT,
    metricType={"enum": ["AverageValue", "Value"]},
)
_ADVANCED = _of(
    "",
    scalingModifiers=_FORMULA,
    horizontalPodAutoscalerConfig=_of(
        "behavior", behavior=_of("", scaleUp=_RULES, scaleDown=_RULES)
    ),
)
_STREAM = _of(
    "addressFromEnv stream streamLength",
    addressFromEnv=TEXT,
    stream=TEXT,
    streamLength=NUMBER,
    enableTLS={"enum": ["true", "false"]},
)
_TRIGGER = _of(
    "type metadata authenticationRef",
    type={"const": "redis-streams"},
    name=TEXT,
    metricType={"enum": ["AverageValue", "Value"]},
    metadata=_STREAM,
    authenticationRef=_of("name", name=TEXT),
)
_FALLBACK = _of(
    "failureThreshold replicas",
    behavior={
        "enum": ["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]
    },
    failureThreshold=COUNT,
    replicas=COUNT,
)
_ENDPOINT = _of(
    "port",
    port=TEXT,
    path=TEXT,
    interval=DURATION,
    relabelings=_list(_of("targetLabel replacement", targetLabel=TEXT, replacement=TEXT)),
)
_RULE = _of(
    "alert expr", alert=TEXT, expr=TEXT, labels=TEXTS, annotations=TEXTS, **{"for": DURATION}
)

SCHEMAS: dict[str, dict[str, Any]] = {
    "ScaledObject": _resource(
        "keda.sh/v1alpha1",
        "ScaledObject",
        _of(
            "scaleTargetRef triggers",
            scaleTargetRef=_of("name", name=TEXT),
            minReplicaCount={"type": "integer", "minimum": 0},
            maxReplicaCount=COUNT,
            pollingInterval=COUNT,
            fallback=_FALLBACK,
            advanced=_ADVANCED,
            triggers=_list(_TRIGGER),
        ),
    ),
    "TriggerAuthentication": _resource(
        "keda.sh/v1alpha1",
        "TriggerAuthentication",
        _of(
            "secretTargetRef",
            secretTargetRef=_list(_of("parameter name key", parameter=TEXT, name=TEXT, key=TEXT)),
        ),
    ),
    "PodMonitor": _resource(
        "monitoring.coreos.com/v1",
        "PodMonitor",
        _of(
            "selector podMetricsEndpoints",
            selector=_of("matchLabels", matchLabels=TEXTS),
            podMetricsEndpoints=_list(_ENDPOINT),
        ),
    ),
    "PrometheusRule": _resource(
        "monitoring.coreos.com/v1",
        "PrometheusRule",
        _of("groups", groups=_list(_of("name rules", name=TEXT, rules=_list(_RULE)))),
    ),
}
