"""The manifests for Kubernetes: sound by its own description (`kubernetes.json`), and the programs
of the compose file, each with its own secrets and no other. No cluster was to be had for it."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from config.local import secrets
from config.local.state import PROJECT_DIR
from tests.test_deploy import DEPLOY, ONLY_WHERE_WANTED, PLAIN, SERVICES, compose

MANIFESTS = DEPLOY / "kubernetes"
KINDS = {
    "Deployment": "apps.v1",
    "Job": "batch.v1",
    "NetworkPolicy": "networking.v1",
    "PodDisruptionBudget": "policy.v1",
    "Service": "core.v1",
}
OBJECTS: list[dict[str, Any]] = [
    one
    for name in ("setup.yaml", "remit.yaml")
    for one in yaml.safe_load_all((MANIFESTS / name).read_text(encoding="utf-8"))
    if one
]
PODS = {
    one["metadata"]["name"]: one["spec"]["template"] for one in OBJECTS if "template" in one["spec"]
}


def container(name: str) -> dict[str, Any]:
    [found] = PODS[name]["spec"]["containers"]
    return dict(found)


def secrets_of(name: str) -> dict[str, dict[str, Any]]:
    """What the program is given out of the Secret, by the name of its variable."""
    return {
        one["name"]: one["valueFrom"]["secretKeyRef"]
        for one in container(name)["env"]
        if "valueFrom" in one
    }


@pytest.mark.parametrize(
    "found", OBJECTS, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}"
)
def test_each_manifest_is_sound_by_the_description_of_kubernetes(found: dict[str, Any]) -> None:
    described = json.loads((Path(__file__).parent / "kubernetes.json").read_text(encoding="utf-8"))
    kind = f"#/$defs/io.k8s.api.{KINDS[found['kind']]}.{found['kind']}"
    validator = Draft202012Validator({"$ref": kind, "$defs": described["$defs"]})

    assert [error.message for error in validator.iter_errors(found)] == []


@pytest.mark.parametrize("service", SERVICES)
def test_each_program_has_its_own_secrets_and_no_other(service: str) -> None:
    given = set(secrets_of(service))

    assert given - secrets.ALL == given & PLAIN
    assert given & secrets.ALL == secrets.NEEDS[service] - ONLY_WHERE_WANTED
    assert {"name": "REMIT_PROCESS", "value": service} in container(service)["env"]
    assert all(one["name"] == "remit" for one in secrets_of(service).values())


def test_the_sealer_alone_signs_and_only_setup_is_the_superuser() -> None:
    keys = {name: {one["key"] for one in secrets_of(name).values()} for name in PODS}

    assert [name for name in keys if "LEDGER_SIGNING_KEY" in keys[name]] == ["sealer"]
    assert [name for name in keys if "SETUP_DATABASE_URL" in keys[name]] == ["setup"]
    assert {name for name in keys if "CREDENTIALS_PRIVATE_KEY" in keys[name]} == {
        "cluster",
        "turns",
    }
    assert {name for name in keys if "SEALER_DATABASE_URL" in keys[name]} == {"sealer"}


@pytest.mark.parametrize("name", [*SERVICES, "setup"])
def test_a_program_is_that_of_compose_and_may_do_no_more(name: str) -> None:
    pod, found = PODS[name]["spec"], container(name)

    assert shlex.join(found["command"]) == shlex.join(compose()[name]["command"])
    assert found["image"] == "remit"
    assert found["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert f"USER {pod['securityContext']['runAsUser']}" in (DEPLOY / "Dockerfile").read_text()
    assert pod["automountServiceAccountToken"] is False
    assert found["envFrom"] == [{"configMapRef": {"name": "remit"}}]
    assert [one["mountPath"] for one in found["volumeMounts"]] == ["/tmp"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_program_has_its_30_seconds_to_stop_in(service: str) -> None:
    grace = PODS[service]["spec"]["terminationGracePeriodSeconds"]
    ahead = container(service).get("lifecycle", {}).get("preStop", {"exec": {"command": [0]}})

    assert grace >= 30 + int(ahead["exec"]["command"][-1])


def test_each_selector_finds_the_pods_that_it_is_for() -> None:
    by_name = {(one["kind"], one["metadata"]["name"]): one["spec"] for one in OBJECTS}
    labels = {name: pod["metadata"]["labels"] for name, pod in PODS.items()}

    def chosen(selector: dict[str, str]) -> list[str]:
        return sorted(name for name, own in labels.items() if selector.items() <= own.items())

    for service in SERVICES:
        spec = by_name["Deployment", service]
        assert chosen(spec["selector"]["matchLabels"]) == [service]
    assert chosen(by_name["Service", "web"]["selector"]) == ["web"]
    assert chosen(by_name["PodDisruptionBudget", "web"]["selector"]["matchLabels"]) == ["web"]
    policies = {
        name: chosen(spec["podSelector"]["matchLabels"])
        for (kind, name), spec in by_name.items()
        if kind == "NetworkPolicy"
    }
    assert policies == {"remit": sorted(labels), "web": ["web"], "sealer": ["sealer"]}
    assert "ingress" not in by_name["NetworkPolicy", "remit"]
    assert by_name["NetworkPolicy", "web"]["ingress"] == [{"ports": [{"port": "http"}]}]


def test_the_page_makes_a_secret_with_all_that_the_programs_need(tmp_path: Path) -> None:
    page = (PROJECT_DIR / "docs" / "deployment.md").read_text(encoding="utf-8")
    block = re.search(r"(?ms)^    cd deploy/kubernetes\n(.*?)^    kubectl", page)
    assert block
    subprocess.run(["bash", "-ec", re.sub("(?m)^    ", "", block[1])], cwd=tmp_path, check=True)

    lines = (tmp_path / "secrets.env").read_text(encoding="utf-8").splitlines()
    made = dict(line.split("=", 1) for line in lines)
    wanted = {
        one["key"] for name in PODS for one in secrets_of(name).values() if not one.get("optional")
    }
    assert wanted - {"CREDENTIALS_PUBLIC_KEY", "CREDENTIALS_PRIVATE_KEY"} <= set(made)
    roles = dict(one.split("=") for one in made["LEDGER_ROLE_PASSWORDS"].split(","))
    assert f"://remit_app:{roles['app']}@" in made["APP_DATABASE_URL"]
    assert f"://remit_sealer:{roles['sealer']}@" in made["SEALER_DATABASE_URL"]
    assert len(set(made.values())) == len(made)
    assert (tmp_path / "secrets.env").stat().st_mode & 0o077 == 0
