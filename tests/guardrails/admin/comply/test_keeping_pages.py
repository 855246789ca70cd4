"""The pages about what the ledger keeps, without a browser."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.bundle.contents import Bundle
from audit.contracts import Filters
from audit.keeping import end, erasure, retention
from audit.ledger import selectors
from audit.models import ExecutedAgentAction
from guardrails.admin.comply import keeping_pages
from integrations.models import Organisation
from tests.audit import sealed
from tests.audit.bundle import leaving
from tests.audit.bundle.leaving import KEPT, OLDEST
from tests.audit.entries import append_action
from tests.clients import log_in, log_in_superuser

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NAMES = ("erasure", "legal_holds", "retention", "end")
RIGHTS = ("erase_contents", "hold_contents", "drop_months", "end_ledger")
HOSTILE = "maya\u202e<script>alert(1)</script>"


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Example & Sons")


def logged_in(name: str, *rights: str) -> Client:
    return log_in(name, "view_executedagentaction", *rights)


@pytest.fixture
def olga() -> Client:
    return log_in_superuser("olga")


def address(name: str, organisation: Organisation) -> str:
    page = reverse(f"admin:guardrails_ledger_{name}")
    return f"{page}?organisation={organisation.slug}"


def page(client: Client, name: str, organisation: Organisation, **posted: str) -> str:
    where = address(name, organisation)
    answer = client.post(where, posted, follow=True) if posted else client.get(where)
    assert answer.status_code == 200
    return answer.content.decode()


def contents(organisation: Organisation) -> int:
    return erasure.select_rows(erasure.Scope(tenant_id=organisation.id)).count()


@pytest.mark.parametrize(("name", "right"), list(zip(NAMES, RIGHTS, strict=True)))
def test_each_page_needs_a_right_of_its_own(
    name: str, right: str, organisation: Organisation
) -> None:
    append_action(tenant_id=organisation.id)
    nobody = log_in("nobody")
    assert nobody.get(address(name, organisation)).status_code == 403
    others = logged_in("watching", *(one for one in RIGHTS if one != right))
    # Old months leave for every organisation at once: staff of some never do that.
    assert others.get(address(name, organisation)).status_code == (
        403 if name == "retention" else 200
    )
    posted = {"reason": "x", "what": "everything", "_look": ""}
    assert others.post(address(name, organisation), posted).status_code == 403
    posted.pop("_look")
    assert others.post(address(name, organisation), posted).status_code == 403
    assert contents(organisation) == 2
    assert erasure.list_legal_holds(organisation.id) == []


@pytest.mark.parametrize("name", NAMES)
def test_each_page_leads_to_the_others(name: str, olga: Client, organisation: Organisation) -> None:
    text = page(olga, name, organisation)
    for other in NAMES:
        assert f'href="{address(other, organisation)}"' in text
    tabs = text.split('aria-label="What the ledger keeps"')[1].split("</nav>")[0]
    assert tabs.count('aria-current="page"') == 1


def test_old_months_are_no_matter_of_those_who_meet_some_organisations(
    organisation: Organisation,
) -> None:
    everything = logged_in("sam", *RIGHTS)

    assert everything.get(address("retention", organisation)).status_code == 403
    assert everything.post(address("retention", organisation), {"reason": "x"}).status_code == 403
    assert address("retention", organisation) not in page(everything, "erasure", organisation)


def test_everything_is_held_whatever_user_was_typed_before(
    olga: Client, organisation: Organisation
) -> None:
    page(olga, "legal_holds", organisation, what="everything", user="maya", reason="case 3")
    assert [one.on_behalf_of for one in erasure.list_legal_holds(organisation.id)] == [""]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_without_any_organisation_says_so(name: str, olga: Client) -> None:
    Organisation.objects.all().delete()
    answer = olga.get(reverse(f"admin:guardrails_ledger_{name}"))
    assert "There is no organisation yet." in answer.content.decode()
    assert olga.post(reverse(f"admin:guardrails_ledger_{name}")).status_code == 403


def test_contents_are_counted_first_and_erased_then(
    olga: Client, organisation: Organisation
) -> None:
    append_action(tenant_id=organisation.id, on_behalf_of=HOSTILE)
    kept = append_action(tenant_id=organisation.id, on_behalf_of="omar")
    given = {"what": "user", "about": HOSTILE, "reason": "request 7"}
    text = page(olga, "erasure", organisation, **given, _look="")
    assert "2 rows of Example &amp; Sons have contents to erase" in text
    assert "<script>alert" not in text
    assert contents(organisation) == 4

    stale = page(olga, "erasure", organisation, **given, count="1")
    assert "It would be 2 rows now. Nothing was erased" in stale
    assert contents(organisation) == 4
    assert "The contents of 2 rows are erased" in page(
        olga, "erasure", organisation, **given, count="2"
    )
    assert contents(organisation) == 2
    assert all(row.payload for row in selectors.recorded(kept))
    said = ExecutedAgentAction.objects.get(tenant_id=organisation.id, phase="redaction")
    assert said.actor_id == "operator:olga"


def test_a_page_erases_some_at_once_and_says_how_many_are_left(
    olga: Client, organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    monkeypatch.setattr(keeping_pages, "AT_ONCE", 4)
    for _ in range(3):
        append_action(tenant_id=organisation.id, on_behalf_of="maya")
    given = {"what": "user", "about": "maya", "reason": "request 7"}
    some = page(olga, "erasure", organisation, **given, count="6")
    assert "The contents of 4 rows are erased" in some
    assert "2 are left: do the same again" in some
    rest = page(olga, "erasure", organisation, **given, count="2")
    assert "The contents of 2 rows are erased" in rest
    assert "are left" not in rest
    assert contents(organisation) == 0


@pytest.mark.parametrize(
    "given",
    [
        {"what": "user", "about": "", "reason": "x"},
        {"what": "action", "about": "no id", "reason": "x"},
        {"what": "everything", "about": "x", "reason": "x"},
    ],
)
def test_what_is_not_clear_is_not_erased(
    given: dict[str, str], olga: Client, organisation: Organisation
) -> None:
    append_action(tenant_id=organisation.id)
    for posted in (given, given | {"_look": ""}):
        text = page(olga, "erasure", organisation, **posted, count="2")
        assert "Name the user or the action" in text
    assert contents(organisation) == 2


def test_a_reason_is_needed(olga: Client, organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id, on_behalf_of="maya")
    text = page(olga, "erasure", organisation, what="user", about="maya", reason=" ", count="2")
    assert "Say why" in text
    assert contents(organisation) == 2


def test_rows_of_another_organisation_are_not_reached(
    olga: Client, organisation: Organisation
) -> None:
    other = append_action(tenant_id=uuid4())
    given = {"what": "action", "about": str(other), "reason": "x"}
    assert "0 rows of" in page(olga, "erasure", organisation, **given, _look="")
    page(olga, "erasure", organisation, **given, count="0")
    assert all(row.payload for row in selectors.recorded(other))


def test_holds_are_set_listed_obeyed_and_released(olga: Client, organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id, on_behalf_of="maya")
    assert "None in force" in page(olga, "legal_holds", organisation)
    assert "Name the user" in page(olga, "legal_holds", organisation, what="user", reason="case 3")
    text = page(olga, "legal_holds", organisation, what="user", user="maya", reason="case 3")
    assert "1 in force" in text
    (legal_hold,) = erasure.list_legal_holds(organisation.id)
    given = {"what": "user", "about": "maya", "reason": "x", "count": "2"}
    assert "A legal hold keeps row" in page(olga, "erasure", organisation, **given)
    assert contents(organisation) == 2
    missing = page(olga, "legal_holds", organisation, release=str(uuid4()), reason="over")
    assert "no such legal hold in force" in missing
    released = page(
        olga, "legal_holds", organisation, release=str(legal_hold.action_id), reason="over"
    )
    assert "is released" in released
    assert erasure.list_legal_holds(organisation.id) == []


@pytest.fixture
def old(organisation: Organisation) -> Iterator[UUID]:
    with leaving.old_months():
        leaving.append_of(OLDEST, organisation.id)
        sealed.seal(organisation.id)
        yield organisation.id


def rows(tenant_id: UUID) -> int:
    return ExecutedAgentAction.objects.filter(tenant_id=tenant_id).count()


def test_one_person_proposes_and_another_confirms(
    olga: Client, organisation: Organisation, old: UUID
) -> None:
    before = str(KEPT)
    others = retention.list_proposals(now=timezone.now())  # of other tests: the ledger keeps them
    text = page(olga, "retention", organisation, before=before, _look="")
    assert "These months leave: 2020-01 to 2020-02." in text
    assert "Example &amp; Sons" in text
    plan = retention.plan(KEPT, now=timezone.now())
    given = {"before": before, "digest": plan.digest}
    assert "Say why" in page(olga, "retention", organisation, **given, reason="")
    stale = {"before": before, "digest": "0", "reason": "x"}
    assert "has changed meanwhile" in page(olga, "retention", organisation, **stale)
    assert retention.list_proposals(now=timezone.now()) == others
    text = page(olga, "retention", organisation, **given, reason="two years")
    assert "Another person must confirm it." in text
    (proposal,) = (one for one in retention.list_proposals(now=timezone.now()) if one not in others)
    assert "Another person" in page(olga, "retention", organisation, confirm=str(proposal.id))
    assert rows(old) == 2
    omar = log_in_superuser("omar")
    assert "Done. These months leave" in page(
        omar, "retention", organisation, confirm=str(proposal.id)
    )
    assert rows(old) == 1


def test_a_wrong_month_is_named(olga: Client, organisation: Organisation) -> None:
    text = page(olga, "retention", organisation, before="soon<b>", _look="")
    assert "“soon&lt;b&gt;” is not a month" in text
    now = page(olga, "retention", organisation, before=f"{timezone.now():%Y-%m}", _look="")
    assert "have not all ended 31 days ago" in now


def test_an_organisation_ends_when_its_name_is_typed(
    olga: Client, organisation: Organisation
) -> None:
    append_action(tenant_id=organisation.id)
    sealed.seal(organisation.id)
    assert "No bundle holds all of its rows." in page(olga, "end", organisation)
    refused = page(olga, "end", organisation, typed=organisation.name, reason="over")
    assert "No bundle holds all of its rows." in refused
    made: Any = Bundle(
        filters=Filters(tenant_id=organisation.id), actor_type="admin", actor_id="operator:olga"
    )
    assert b"".join(made)
    wrong = page(olga, "end", organisation, typed="Example", reason="over")
    assert "Type the organisation" in wrong
    assert not end.has_ended(organisation.id)
    done = page(olga, "end", organisation, typed=organisation.name, reason="over")
    assert "has ended" in done
    assert end.has_ended(organisation.id)
    assert contents(organisation) == 0
    assert "Nothing is left to erase." in page(olga, "end", organisation)


def test_an_end_that_erases_some_at_once_goes_on_below(
    olga: Client, organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    monkeypatch.setattr(keeping_pages, "AT_ONCE", 2)
    for _ in range(2):
        append_action(tenant_id=organisation.id)
    sealed.seal(organisation.id)
    everything = Filters(tenant_id=organisation.id)
    made: Any = Bundle(filters=everything, actor_type="admin", actor_id="operator:olga")
    assert b"".join(made)
    told = [page(olga, "end", organisation, typed=organisation.name, reason="x") for _ in range(3)]
    assert "Those of 4 more cannot be read any longer, and are not erased yet" in told[0]
    assert "Erase what is left" in told[0]
    assert "Those of 2 more cannot be read" in told[1]
    assert "the contents of 2 rows are erased." in told[2]
    assert "Nothing is left to erase." in told[2]
    assert contents(organisation) == 0


def test_a_database_role_that_may_not_gets_an_answer(
    olga: Client, organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_action(tenant_id=organisation.id, on_behalf_of="maya")
    raising = "DO $$ BEGIN RAISE insufficient_privilege USING MESSAGE = 'permission denied'; END $$"
    monkeypatch.setattr(erasure, "REDACT", f"{raising} -- %s %s %s")
    monkeypatch.setattr(erasure, "build_redaction", lambda *_, **__: None)
    given = {"what": "user", "about": "maya", "reason": "x", "count": "2"}
    text = page(olga, "erasure", organisation, **given)
    assert "database role may not do that" in text
    assert contents(organisation) == 2
