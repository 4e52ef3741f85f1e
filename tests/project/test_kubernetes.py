"""The Kubernetes manifests, built by kustomize itself and held against Kubernetes' schemas: tests have no cluster."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator, ValidationError
from kubernetes_validate import validate
from redis import Redis

from bus.access import SCALER, users
from bus.keys import Keys
from contracts import TOPOLOGY
from groundwire.credentials import write_credentials
from groundwire.settings import Settings, load_settings

from .compose import HEALTH_PORT, SERVER, services
from .custom_resources import SCHEMAS
from .repository import BIN, ROOT

FOLDER = ROOT / "examples" / "deployment"
STAGES = [stage.name for stage in TOPOLOGY.stages]
URL = "redis://groundwire-valkey:6379/0"
KUBERNETES = ("1.27", "1.37")
"""The oldest that docs/deployment.md names, and the newest that there are schemas of."""
Resource = dict[str, Any]


def build(folder: Path) -> list[Resource]:
    """What `kubectl apply -k` would send."""
    done = subprocess.run(
        [BIN / "kubectl", "kustomize", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "deprecated" not in done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Resource]]:
    """Both overlays' resources; `try` with the passwords that its page tells to make."""
    copy = tmp_path_factory.mktemp("deployment") / "deployment"
    shutil.copytree(FOLDER, copy)
    trying = copy / "kubernetes" / "try"
    write_credentials(trying / "access", URL, [user.name for user in users()], lambda _: "users")
    return {name: build(copy / "kubernetes" / name) for name in ("try", "production")}


@pytest.fixture(params=["try", "production"])
def resources(request: pytest.FixtureRequest, built: dict[str, list[Resource]]) -> list[Resource]:
    """Each overlay's in turn."""
    return built[request.param]


def check(resource: Resource) -> None:
    """Hold it against its schema."""
    if resource["kind"] in SCHEMAS:
        Draft202012Validator(SCHEMAS[resource["kind"]]).validate(resource)
    else:
        for version in KUBERNETES:
            validate(resource, version, strict=True)


def of_kind(resources: list[Resource], *kinds: str) -> dict[str, Resource]:
    """By name."""
    return {one["metadata"]["name"]: one for one in resources if one["kind"] in kinds}


def pods(resources: list[Resource]) -> Iterator[tuple[str, Resource]]:
    """The pods that are made, each with the name of what makes it."""
    for name, one in of_kind(resources, "Deployment", "StatefulSet", "Job").items():
        yield name, one["spec"]["template"]


def agents(resources: list[Resource]) -> dict[str, Resource]:
    """A Deployment for each stage."""
    found = of_kind(resources, "Deployment")
    return {stage: found[f"groundwire-{stage}"] for stage in STAGES}


def test_every_resource_is_what_its_schema_wants(resources: list[Resource]) -> None:
    """Kubernetes' own schemas, strict: an unknown field is an error; reduced copies for KEDA and Prometheus."""
    for one in resources:
        assert one["metadata"].get("namespace", "groundwire") == "groundwire"
        check(one)


def test_a_misspelt_field_is_found(built: dict[str, list[Resource]]) -> None:
    """The schemas are ones that refuse."""
    for kind in ("Deployment", "ScaledObject"):
        wrong = json.loads(json.dumps(next(iter(of_kind(built["production"], kind).values()))))
        wrong["spec"]["replica"] = 1
        with pytest.raises(ValidationError, match="replica"):
            check(wrong)


def test_every_stage_is_a_deployment_with_a_secret_and_a_budget_of_its_own(
    resources: list[Resource],
) -> None:
    """Each runs its stage, sees its own user's URL alone, and is selected by nobody else's selector."""
    secrets = of_kind(resources, "Secret")
    budgets = of_kind(resources, "PodDisruptionBudget")
    for stage, deployment in agents(resources).items():
        template = deployment["spec"]["template"]
        (container,) = template["spec"]["containers"]
        assert container["args"] == ["worker", stage]
        (access,) = (it["secret"] for it in template["spec"]["volumes"] if it["name"] == "access")
        assert access["secretName"].startswith(f"groundwire-{stage}")
        assert access["items"] == [{"key": "redis-url", "path": "redis-url"}]
        assert not secrets or access["secretName"] in secrets
        mine = {"app.kubernetes.io/name": "groundwire", "app.kubernetes.io/component": stage}
        assert deployment["spec"]["selector"]["matchLabels"] == mine
        assert mine.items() <= template["metadata"]["labels"].items()
        assert budgets[f"groundwire-{stage}"]["spec"]["selector"]["matchLabels"] == mine
        for spread in template["spec"]["topologySpreadConstraints"]:
            assert spread["labelSelector"]["matchLabels"] == mine


def test_no_pod_has_more_rights_or_more_of_the_node_than_it_needs(
    resources: list[Resource],
) -> None:
    """What the Pod Security Standard `restricted` wants, a read-only root, no token, bounded resources."""
    for _, template in pods(resources):
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = spec["containers"]
        assert ":" in container["image"] or container["imagePullPolicy"] == "IfNotPresent"
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }
        for kind in ("requests", "limits"):
            assert container["resources"][kind].keys() == {"cpu", "memory"}


def test_no_service_s_name_becomes_a_setting(resources: list[Resource]) -> None:
    """A Service groundwire-valkey would be GROUNDWIRE_VALKEY_PORT in each pod, which settings refuse."""
    for _, template in pods(resources):
        assert template["spec"]["enableServiceLinks"] is False


def test_the_settings_are_ones_that_there_are(resources: list[Resource], tmp_path: Path) -> None:
    """The ConfigMap loads as settings of a worker, whose port is the one that is probed and scraped."""
    (known,) = (
        one["data"]
        for name, one in of_kind(resources, "ConfigMap").items()
        if name.startswith("groundwire-settings")
    )
    (tmp_path / "redis-url").write_text(URL)
    settings = load_settings(
        known | {"GROUNDWIRE_REDIS_URL_FILE": str(tmp_path / "redis-url")}, tmp_path
    )
    assert (settings.health_host, str(settings.health_port)) == ("0.0.0.0", HEALTH_PORT)
    assert settings.ready_oldest_s >= settings.deadline_s
    for _, template in pods(resources):
        (container,) = template["spec"]["containers"]
        for port in container.get("ports", ()):
            assert str(port["containerPort"]) in {HEALTH_PORT, "6379"}


def test_probes_leave_a_worker_the_time_that_it_takes_for_itself(
    resources: list[Resource],
) -> None:
    """Killed later than it ends by itself when stuck, and not while it drains."""
    default = {name: field.default for name, field in Settings.model_fields.items()}
    for deployment in agents(resources).values():
        spec = deployment["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert spec["terminationGracePeriodSeconds"] > default["grace_s"]
        for name, path in (("startup", "/livez"), ("liveness", "/livez"), ("readiness", "/readyz")):
            asked = container[f"{name}Probe"]["httpGet"]
            assert asked == {"path": path, "port": container["ports"][0]["name"]}
        alive = container["livenessProbe"]
        assert alive["periodSeconds"] * alive["failureThreshold"] > default["wedge_limit_s"]


def test_agents_reach_names_and_the_server_and_nothing_else(resources: list[Resource]) -> None:
    """One policy for all of ours; in `try` the server lets nobody else in."""
    policies = of_kind(resources, "NetworkPolicy")
    ours = policies["groundwire"]["spec"]
    assert ours["policyTypes"] == ["Ingress", "Egress"]
    names, server = ours["egress"]
    assert {port["port"] for port in names["ports"]} == {53}
    assert 6379 in {port["port"] for port in server["ports"]}
    assert all(rule["to"] for rule in ours["egress"])
    for name, template in pods(resources):
        labels = template["metadata"]["labels"]
        chosen = [
            one
            for one in policies.values()
            if one["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
        ]
        assert chosen, name


def test_the_server_to_try_with_is_the_compose_file_s(built: dict[str, list[Resource]]) -> None:
    """Same version, same flags; it reads its users from the folder that `groundwire acl` made."""
    (container,) = of_kind(built["try"], "StatefulSet")["groundwire-valkey"]["spec"]["template"][
        "spec"
    ]["containers"]
    assert container["image"] == services()[SERVER]["image"]
    assert container["args"] == services()[SERVER]["command"]
    probe = services()[SERVER]["healthcheck"]["test"][1].replace("$$", "$")
    for name in ("startup", "liveness", "readiness"):
        assert container[f"{name}Probe"]["exec"]["command"] == ["sh", "-c", probe]


def test_each_agent_is_scaled_on_the_length_of_its_own_stream(
    built: dict[str, list[Resource]],
) -> None:
    """KEDA asks XLEN as `scaler`, who may nothing else, keeps one worker at least, and nothing else sets a number."""
    production = built["production"]
    scaled = of_kind(production, "ScaledObject")
    assert scaled.keys() == {f"groundwire-{stage}" for stage in STAGES}
    authentication = of_kind(production, "TriggerAuthentication")
    for stage in TOPOLOGY.stages:
        spec = scaled[f"groundwire-{stage.name}"]["spec"]
        assert spec["scaleTargetRef"] == {"name": f"groundwire-{stage.name}"}
        assert spec["minReplicaCount"] >= 1
        (trigger,) = spec["triggers"]
        assert trigger["metadata"]["stream"] == Keys(0).of(stage.consumes)
        assert trigger["authenticationRef"]["name"] in authentication
        assert (
            int(trigger["metadata"]["streamLength"]) > Settings.model_fields["concurrency"].default
        )
        assert "replicas" not in agents(production)[stage.name]["spec"]
    (asking,) = authentication.values()
    assert {one["name"] for one in asking["spec"]["secretTargetRef"]} == {f"groundwire-{SCALER}"}


@pytest.mark.server
def test_the_length_of_a_work_stream_is_its_backlog_and_its_lag_is_not(server_url: str) -> None:
    """Two of six taken, the second settled first: five are unfinished, and the server can't say how many wait."""
    with Redis.from_url(server_url) as redis:
        redis.xgroup_create("work", "stage", "0", mkstream=True)
        for number in range(6):
            redis.xadd("work", {"event": number})
        [(_, taken)] = redis.xreadgroup("stage", "worker", {"work": ">"}, count=2)
        redis.xack("work", "stage", taken[1][0])
        redis.xdel("work", taken[1][0])
        assert redis.xlen("work") == 5
        assert redis.xinfo_groups("work")[0]["lag"] is None
        assert redis.xpending("work", "stage")["pending"] == 1


def test_the_page_says_how_lanes_are_added_up() -> None:
    """Its example is a resource that KEDA takes: a trigger for each lane's stream, each in the formula."""
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = yaml.safe_load(block)
    check(shown)
    triggers = shown["spec"]["triggers"]
    streams = [trigger["metadata"]["stream"] for trigger in triggers]
    assert streams == [Keys(lane).of("intents") for lane in range(len(triggers))]
    formula = shown["spec"]["advanced"]["scalingModifiers"]["formula"]
    assert formula.split(" + ") == [trigger["name"] for trigger in triggers]


def test_the_operator_s_rules_are_the_alerts(built: dict[str, list[Resource]]) -> None:
    """And its target is called what they call it; the dashboard is the one that is printed."""
    rules = of_kind(built["production"], "PrometheusRule")["groundwire"]["spec"]
    assert rules == yaml.safe_load((FOLDER / "metrics" / "alerts.yml").read_text(encoding="utf-8"))
    monitor = of_kind(built["production"], "PodMonitor")["groundwire"]["spec"]
    (endpoint,) = monitor["podMetricsEndpoints"]
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": "groundwire"}]
    for _, template in pods(built["production"]):
        assert monitor["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        assert endpoint["port"] in {
            port["name"] for port in template["spec"]["containers"][0]["ports"]
        }
    dashboard = of_kind(built["production"], "ConfigMap")["groundwire-dashboard"]["data"]
    printed = (FOLDER / "metrics" / "dashboard.json").read_text(encoding="utf-8")
    assert dashboard == {"groundwire.json": printed}
