"""Where auditors find all in one place."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.ledger.months import Month
from guardrails.admin.comply import auditor_page
from guardrails.execute.executor import execute
from integrations.models import Organisation
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.clients import log_in, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ADDRESS = "admin:guardrails_ledger_auditor"


def this_month() -> str:
    return str(Month.of(timezone.now()))


def test_the_last_month_is_chosen_and_covered_in_words(office: Office, client: Client) -> None:
    text = read_page(client, reverse(ADDRESS))
    last = Month.of(timezone.now()).preceding
    assert f"from {last.first:%-d %B %Y} to" in text
    assert "Nothing was recorded in this month." in text
    assert "Nothing is sealed yet, so there is no key." in text
    assert "Maya Lindqvist" in text
    for control in ("EU AI Act, Article 12", "DORA, Article 17", "SOC 2, CC8.1"):
        assert control in text
    days = f"--since {last.first} --until {Month.of(timezone.now()).first}"
    assert f"manage.py export_bundle {days} --output evidence.zip" in text
    assert "Not shown: rights of people: see below" in text


def test_a_year_is_drawn_by_month_and_its_bars_open_the_month(
    office: Office, client: Client
) -> None:
    caches["quick"].clear()
    office.permit("archive")
    execute(office.request("archive", {"email_id": office.receive()}))
    execute(office.request("nothing", {}))
    elsewhere = Organisation.objects.create(slug="elsewhere", name="Elsewhere")
    append_action(tenant_id=elsewhere.pk)

    page = client.get(reverse(ADDRESS), {"organisation": office.organisation.slug})

    year = page.context["year"]
    now = Month.of(timezone.now())
    title = f"{now.first:%B %Y}: 1 done, 1 refused, 0 failed; people asked: 0"
    assert [one["title"] for one in year["months"] if one["bars"]] == [title]
    assert year["months"][-1]["title"] == title
    assert len(year["months"]) == 12
    assert year["totals"] == [("done", 1), ("refused", 1), ("failed", 0)]
    assert [(bar.part, bar.y, bar.height) for bar in year["months"][-1]["bars"]] == [
        ("done", "50.00", "50.00"),
        ("refused", "0.00", "50.00"),
    ]
    opened = client.get(year["months"][-1]["link"])
    assert opened.context["period"].month == now
    assert title in opened.content.decode()


def test_a_bundle_of_days_is_checked_with_the_key_of_the_page(
    office: Office, client: Client, tmp_path: Path
) -> None:
    execute(office.request("nothing", {}))
    sealed.seal(office.organisation.id)
    today = f"{timezone.now():%Y-%m-%d}"

    page = client.get(reverse(ADDRESS), {"since": today, "until": today})
    answer: Any = client.get(
        reverse(ADDRESS), {"since": today, "until": today, "download": "bundle"}
    )
    bundle = tmp_path / "bundle.zip"
    bundle.write_bytes(b"".join(answer.streaming_content))
    verifier = tmp_path / "verify.py"
    with zipfile.ZipFile(bundle) as archive:
        verifier.write_bytes(archive.read("verify.py"))
    said = subprocess.run(
        [sys.executable, verifier, bundle, page.context["key"]],
        capture_output=True,
        text=True,
        check=False,
    )

    assert page.context["key"] in page.content.decode()
    assert (said.returncode, "SOUND" in said.stdout) == (0, True), said.stdout


def test_a_person_is_chosen_by_name_and_nobody_elses_rows_are_given(
    office: Office, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditor_page, "PEOPLE", 0)  # they come behind those that are offered
    execute(office.request("nothing", {}))

    def rows(**chosen: str) -> int:
        given = {"month": this_month(), "download": "csv"} | chosen
        answer: Any = client.get(reverse(ADDRESS), given)
        text = io.BytesIO(b"".join(answer.streaming_content)).getvalue().decode()
        return len(text.splitlines()) - 1

    assert rows(person=office.user_id) == 1 < rows()  # an export is a row, too
    last = str(Month.of(timezone.now()).preceding)
    assert rows(month=last) == 0
    assert client.get(reverse(ADDRESS), {"person": "nobody"}).status_code == 404
    page = client.get(reverse(ADDRESS), {"month": this_month(), "person": office.user_id})
    assert "and does not claim to have all" in page.content.decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"month": "2026-13"}, "There is no such month."),
        ({"since": "2026-10-02"}, "Give both days"),
        ({"since": "2026-10-02", "until": "2026-10-01"}, "The last day is before the first one."),
    ],
)
def test_what_is_no_period_is_said_and_nothing_is_given(
    office: Office, client: Client, given: dict[str, str], said: str
) -> None:
    answer = client.get(reverse(ADDRESS), given | {"download": "csv"})
    assert said in answer.content.decode()


def test_it_is_for_who_may_see_the_ledger_of_their_organisations(office: Office) -> None:
    assert log_in("stan").get(reverse(ADDRESS)).status_code == 403
    auditor = log_in("anna", "view_executedagentaction")
    assert auditor.get(reverse(ADDRESS)).status_code == 200
    Organisation.objects.create(slug="other", name="Other")
    assert auditor.get(reverse(ADDRESS), {"organisation": "other"}).status_code == 404
