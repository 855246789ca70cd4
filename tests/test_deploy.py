"""What deploys Remit starts the programs of `make run`, each with its own secrets and no other."""

import configparser
import json
import re
import shlex
from typing import Any

import pytest
import yaml
from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from config.local import secrets
from config.local.state import PROJECT_DIR
from config.metrics import Remit

DEPLOY = PROJECT_DIR / "deploy"
SERVICES = ("web", "cluster", "turns", "sealer")
# What a process is given beside its secrets, and what a deployment need not have.
PLAIN = {"REMIT_PROCESS", "CREDENTIALS_PUBLIC_KEY", "VAPID_PUBLIC_KEY"}
ONLY_WHERE_WANTED = {
    *("LEDGER_VAULT_KEY_BEFORE", "CREDENTIALS_PRIVATE_KEY_BEFORE", "MODEL_PROVIDER_KEYS"),
    *("OTEL_EXPORTER_OTLP_HEADERS", "GOOGLE_CLIENT_SECRET", "OIDC_CLIENT_SECRET"),
    *("DATABASE_DIRECT_URL", "DATABASE_REPLICA_URL", "MICROSOFT_CLIENT_SECRET"),
}
COMMANDS = {
    "web": "-m config.serve",
    "cluster": "manage.py qcluster",
    "turns": "manage.py run_turns",
    "sealer": "manage.py seal_ledger",
}


def compose() -> dict[str, Any]:
    loaded = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    services: dict[str, Any] = loaded["services"]
    return services


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_of_compose_has_its_own_secrets_and_no_other(service: str) -> None:
    given = set(compose()[service]["environment"])

    assert given - secrets.ALL == (PLAIN & given)
    assert given & secrets.ALL == secrets.NEEDS[service] - ONLY_WHERE_WANTED
    assert compose()[service]["environment"]["REMIT_PROCESS"] == service


def test_no_two_services_share_the_signing_key_or_the_superuser() -> None:
    texts = {
        name: json.dumps(service.get("environment", {})) for name, service in compose().items()
    }

    assert [name for name, text in texts.items() if "LEDGER_SIGNING_KEY" in text] == ["sealer"]
    assert [name for name, text in texts.items() if "DATABASE_PASSWORD" in text] == [
        "database",
        "setup",
    ]
    assert [name for name, text in texts.items() if "CREDENTIALS_PRIVATE_KEY" in text] == [
        "cluster",
        "turns",
    ]


@pytest.mark.parametrize("service", [*SERVICES, "setup"])
def test_no_service_may_write_to_its_image_or_gain_rights(service: str) -> None:
    found = compose()[service]

    assert found["read_only"] is True
    assert found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]
    assert re.search(r"^USER 10001$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("service", SERVICES)
def test_compose_and_systemd_start_the_same_program(service: str) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "systemd" / f"remit-{service}.service")

    command = shlex.join(compose()[service]["command"])
    assert command.startswith(f"python {COMMANDS[service]}")
    assert f"/python {COMMANDS[service]}" in unit["Service"]["ExecStart"]
    assert f"REMIT_PROCESS={service} MALLOC_ARENA_MAX=2 " in unit["Service"]["Environment"]
    assert "MALLOC_ARENA_MAX=2 " in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert unit["Service"]["EnvironmentFile"] == f"/etc/remit/{service}.env"
    assert (unit["Service"]["User"] == "remit-sealer") == (service == "sealer")


def test_the_image_holds_every_folder_of_the_product_and_no_other() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = set(re.findall(r"^COPY (\w+) \./\1$", text, re.MULTILINE))
    kept = (PROJECT_DIR / ".dockerignore").read_text(encoding="utf-8").split()

    assert copied == {
        *("config", "audit", "integrations", "knowledge", "guardrails", "agents"),
        *("templates", "locale", "sandbox"),
    }
    assert {line[1:] for line in kept if line.startswith("!")} == {
        *copied,
        "manage.py",
        "requirements.lock",
        "docs/evidence.md",  # what the page for auditors shows
    }


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\bremit_[a-z_]+", text))


@pytest.fixture
def measured(db: None) -> set[str]:
    """The name of every metric, whether or not it has a value now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Remit(now=timezone.now()))
    text = generate_latest(registry).decode()
    return {family.name for family in text_string_to_metric_families(text)}


@pytest.mark.django_db(databases=["default", "ledger"])
def test_alerts_and_dashboard_ask_for_metrics_that_are_there(measured: set[str]) -> None:
    alerts = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
    dashboard = json.loads((DEPLOY / "grafana" / "remit.json").read_text(encoding="utf-8"))
    asked = [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    asked += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]

    assert set().union(*map(names_in, asked)) == measured


def test_each_alert_has_a_row_that_says_what_to_do() -> None:
    alerts = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
    page = (PROJECT_DIR / "docs" / "operating.md").read_text(encoding="utf-8")

    for rule in (rule for group in alerts["groups"] for rule in group["rules"]):
        assert f"| `{rule['alert']}` |" in page
        assert rule["annotations"]["runbook"].startswith("docs/operating.md#")
