"""Staff of one organisation and another's things, at every address of the admin: the answer is the
same as about what there is not. Made from the URL conf, so that a new page is tried by itself."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode, urljoin
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.messages import get_messages
from django.db.models import ForeignKey, Model
from django.forms import ModelChoiceField
from django.http import HttpRequest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from audit.admin.base import LookOnly
from audit.ledger import policies
from audit.ledger.selectors import recorded
from audit.models import ExecutedAgentAction, LedgerPolicy, SavedFilter
from guardrails.models import Approval
from integrations.models import Account, Membership
from integrations.web.bound_admin import BoundAdmin
from knowledge.models import Item
from tests.audit.entries import append_action
from tests.clients import client_of
from tests.rows import Rows

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

# Their rows belong to the whole installation: superusers alone.
OF_ALL = {
    *("mfa.Authenticator", "agents.InstallationCheck"),
    *("auth.User", "auth.Group", "knowledge.EmbeddingModel", "integrations.Upstream"),
    *("django_q.OrmQ", "django_q.Schedule", "django_q.Success", "django_q.Failure"),
}
# Addresses that name a row by something else than its key.
SPECIAL = {"approval_id": Approval, "format": None, "app_label": None, "url": None}
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)")
SECRETS = re.compile(
    r'(name="csrfmiddlewaretoken" value|nonce|data-csrf)="[^"]*"|Since [-0-9]{10} [:0-9]{8} UTC'
    r"|Not sealed since [^:]*|Sealed [^,]* ago"
)


class Neighbours:
    """Two organisations with a row of everything, and somebody of the first one's staff who has
    every right there is."""

    def __init__(self) -> None:
        self.own, self.other = Rows(f"own-{uuid4().hex[:6]}"), Rows(f"zebra-{uuid4().hex[:6]}")
        self.actions = {rows: self.act(rows) for rows in (self.own, self.other)}
        for rows in (self.own, self.other):
            for model in admin.site._registry:
                if model._meta.label not in OF_ALL and model is not ExecutedAgentAction:
                    rows.of(model)
        self.user = User.objects.create(username=f"sam-{self.own.mark}", is_staff=True)
        self.user.user_permissions.set(Permission.objects.all())
        Membership.objects.create(user=self.user, organisation=self.own.organisation)
        self.client: Client = client_of(self.user)

    def act(self, rows: Rows) -> UUID:
        """An action in the ledger, with a policy."""
        tenant_id, body = rows.organisation.id, json.dumps({"mark": rows.mark})
        action_id = append_action(
            tenant_id=tenant_id,
            account_id=rows.of(Account).id,
            on_behalf_of=rows.mark,
            payload={"arguments": {}, "description": rows.mark},
        )
        digest = hashlib.sha256(body.encode()).hexdigest()
        policies.store(tenant_id=tenant_id, digest=digest, body=body)
        rows.made[LedgerPolicy] = LedgerPolicy.objects.get(tenant_id=tenant_id)
        return action_id

    def key(self, rows: Rows, model: type[Model]) -> str:
        if model is ExecutedAgentAction:
            return str(recorded(self.actions[rows])[0].id)
        return str(rows.of(model).pk)

    def ask(self, address: str, *unknown: str, **posted: Any) -> tuple[int, str]:
        """Status and page of an address, without what is said of these values themselves. Where it
        leads to the first page, only what that page would say of it: the rest takes half a second,
        and is looked at by itself."""
        answer = self.client.post(address, posted) if posted else self.client.get(address)
        went: list[str] = []
        while 300 <= answer.status_code < 400:
            address = urljoin(address, answer["Location"])
            went.append(address)
            if address == reverse("admin:index"):
                went += [str(message) for message in get_messages(answer.wsgi_request)]
                self.client.cookies.pop("messages", None)  # they are read
                break
            assert len(went) < 20
            answer = self.client.get(address)
        page = SECRETS.sub("", answer.getvalue().decode(errors="replace"))
        text = f"{went} {page}"
        for value in sorted({*unknown, *map(quote, unknown)}, key=len, reverse=True):
            text = text.replace(value, "THIS")
        return answer.status_code, text


@pytest.fixture
def neighbours() -> Neighbours:
    return Neighbours()


def patterns(resolver: Any = None, before: str = "") -> Iterator[tuple[str, str]]:
    """Every address with its name."""
    for one in (resolver or get_resolver()).url_patterns:
        route = before + str(one.pattern).strip("^$").replace("\\Z", "")
        if isinstance(one, URLResolver):
            yield from patterns(one, route)
        elif isinstance(one, URLPattern):
            yield f"/{route}", one.name or ""


def model_of(route: str) -> type[Model] | None:
    parts = route.split("/")
    try:
        return apps.get_model(parts[2], parts[3])
    except (LookupError, IndexError, ValueError):
        return None


def first_difference(one: tuple[int, str], other: tuple[int, str]) -> str:
    """Short, because a page is long."""
    (status, page), (other_status, other_page) = one, other
    pairs = enumerate(zip(page, other_page, strict=False))
    place = next((at for at, (left, right) in pairs if left != right), len(page))
    part = slice(max(0, place - 80), place + 80)
    return f"{status} {page[part]} | {other_status} {other_page[part]}"


def unknown_like(key: str) -> str:
    if key.isdigit():
        return str(int(key) + 10**12)
    try:
        UUID(key)
    except ValueError:
        return f"unknown-{uuid4().hex[:6]}"
    return str(uuid4())


def test_every_admin_says_whose_its_rows_are() -> None:
    unbound = [
        model._meta.label
        for model, one in admin.site._registry.items()
        if not isinstance(one, BoundAdmin | LookOnly)
    ]
    of_all = {
        model._meta.label
        for model, one in admin.site._registry.items()
        if isinstance(one, BoundAdmin) and one.organisation_path is None
    }

    assert unbound == []
    assert of_all == OF_ALL


def test_no_part_of_a_form_offers_rows_without_asking_whose_they_are() -> None:
    """Inlines are no admins of their own: they may have no choice of rows to offer."""
    request = HttpRequest()
    request.user = User(is_superuser=True, is_active=True)
    wrong = [
        f"{inline} {field}"
        for model, shown in admin.site._registry.items()
        if model._meta.label not in OF_ALL
        for inline in shown.get_inline_instances(request)
        if inline.has_change_permission(request)
        for field, found in inline.get_formset(request).form.base_fields.items()
        if isinstance(found, ModelChoiceField)
    ]

    assert wrong == []


def test_a_row_of_another_organisation_is_as_unknown_as_none(neighbours: Neighbours) -> None:
    differ, tried = [], 0
    for route, _ in patterns():
        names = [first or second for first, second in PARAMETER.findall(route)]
        if not route.startswith("/admin/") or not names:
            continue
        name, address = names[-1], route
        model = SPECIAL[name] if name in SPECIAL else model_of(route)
        if names[0] == "content_type_id":
            address = PARAMETER.sub(str(ContentType.objects.get_for_model(Item).pk), route, count=1)
            theirs = neighbours.key(neighbours.other, Item)
        elif name == "action_id":
            theirs = str(neighbours.actions[neighbours.other])
        elif "/saved/" in route:
            theirs = str(neighbours.other.of(SavedFilter).pk)
        elif model is None or model._meta.label in OF_ALL:
            continue
        else:
            theirs = neighbours.key(neighbours.other, model)
        nobodys = unknown_like(theirs)
        for posted in (
            ({},) if "history" in route else ({}, {"word": "confirm", "post": "yes", "reason": "x"})
        ):
            answers = [
                neighbours.ask(PARAMETER.sub(key, address), theirs, nobodys, **posted)
                for key in (theirs, nobodys)
            ]
            tried += 1
            if answers[0] != answers[1] or neighbours.other.mark in answers[0][1]:
                differ.append((route, bool(posted), first_difference(*answers)))

    assert differ == []
    assert tried > 200


def test_no_list_or_form_knows_of_another_organisation(neighbours: Neighbours) -> None:
    wrong = []
    for route, name in patterns():
        if not route.startswith("/admin/") or PARAMETER.search(route) or name == "logout":
            continue
        status, page = neighbours.ask(route)
        if neighbours.other.mark in page or str(neighbours.other.organisation.id) in page:
            wrong.append(route)
        model = model_of(route)
        if name.endswith("_changelist") and model and model._meta.label not in OF_ALL:
            own = reverse(
                f"admin:{name.replace('_changelist', '_change')}",
                args=[neighbours.key(neighbours.own, model)],
            )
            if (status, neighbours.client.get(own).status_code) != (200, 200):
                wrong.append(own)

    assert wrong == []


def named_in_addresses(neighbours: Neighbours, rows: Rows) -> dict[str, str]:
    """What a page beside the lists is asked about."""
    account = str(rows.of(Account).id)
    action = str(neighbours.actions[rows])
    return {
        "account": account,
        "ids": str(rows.of(Approval).id),
        "tenant_id": str(rows.organisation.id),
        "change": action,
        "incident": action,
        "before": action,
        "target": "ada@client.com",
    }


def test_no_page_takes_another_organisation_from_its_address(neighbours: Neighbours) -> None:
    differ = []
    theirs = named_in_addresses(neighbours, neighbours.other)
    nobodys = {name: unknown_like(value) for name, value in theirs.items()}
    exports = [reverse("admin:audit_ledger_export", args=[one]) for one in ("csv", "bundle")]
    pages = [
        route
        for route, name in patterns()
        if route.startswith("/admin/") and not PARAMETER.search(route) and "changelist" not in name
    ]
    for route in [*pages, *exports]:
        answers = [
            neighbours.ask(f"{route}?{urlencode(given)}", *theirs.values(), *nobodys.values())
            for given in (theirs, nobodys)
        ]
        slugs = (neighbours.other.organisation.slug, "nobodys")
        if route not in exports:  # these know no other name of an organisation
            answers += [neighbours.ask(f"{route}?organisation={slug}", *slugs) for slug in slugs]
        for one, other in (answers[:2], answers[2:] or answers[:2]):
            if one != other:
                differ.append((route, first_difference(one, other)))

    assert differ == []


def test_no_filter_search_or_action_reaches_another_organisation(neighbours: Neighbours) -> None:
    differ = []
    for model, shown in admin.site._registry.items():
        if model._meta.label in OF_ALL:
            continue
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        theirs = neighbours.key(neighbours.other, model)
        nobodys = unknown_like(theirs)
        related = [
            (
                f"{field.name}__{field.target_field.name}__exact",
                str(neighbours.other.of(field.related_model).pk),
            )
            for field in related_filters(neighbours.user, shown)
        ]
        for query in ({"q": theirs}, {"before": theirs}, {"tenant_id": theirs}, dict(related)):
            same = {name: unknown_like(value) for name, value in query.items()}
            answers = [
                neighbours.ask(f"{address}?{urlencode(given)}", *query.values(), *same.values())
                for given in (query, same)
            ]
            if answers[0] != answers[1]:
                differ.append((address, str(query), first_difference(*answers)))
        for action in actions_of(neighbours.user, shown):
            answers = [
                neighbours.ask(
                    address,
                    theirs,
                    nobodys,
                    action=action,
                    _selected_action=key,
                    post="yes",
                    index="0",
                )
                for key in (theirs, nobodys)
            ]
            if answers[0] != answers[1]:
                differ.append((address, action, first_difference(*answers)))

    assert differ == []


def request_of(user: User) -> HttpRequest:
    request = HttpRequest()
    request.user, request.method = user, "GET"
    return request


def related_filters(user: User, shown: Any) -> Iterator[Any]:
    for one in shown.get_list_filter(request_of(user)):
        name = one[0] if isinstance(one, tuple) else one
        if isinstance(name, str):
            field = shown.model._meta.get_field(name)
            if isinstance(field, ForeignKey):
                yield field


def actions_of(user: User, shown: Any) -> list[str]:
    return list(shown.get_actions(request_of(user)))


def test_no_form_takes_a_row_of_another_organisation(neighbours: Neighbours) -> None:
    differ = []
    for model, shown in admin.site._registry.items():
        request = request_of(neighbours.user)
        if model._meta.label in OF_ALL or not shown.has_add_permission(request):
            continue
        fields = shown.get_form(request, change=False).base_fields
        names = [name for name, one in fields.items() if isinstance(one, ModelChoiceField)]
        theirs = {
            name: str(neighbours.other.of(fields[name].queryset.model).pk)  # type: ignore[attr-defined]
            for name in names
        }
        nobodys = {name: unknown_like(key) for name, key in theirs.items()}
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_add")
        answers = [
            neighbours.ask(address, *theirs.values(), *nobodys.values(), **given)
            for given in (theirs, nobodys)
        ]
        if theirs and (answers[0] != answers[1] or "Select a valid choice" not in answers[0][1]):
            differ.append((address, first_difference(*answers)))
        for name in shown.get_autocomplete_fields(request):
            query = {"app_label": model._meta.app_label, "model_name": model._meta.model_name}
            query |= {"field_name": name, "term": ""}
            status, found = neighbours.ask(f"/admin/autocomplete/?{urlencode(query)}")
            if status != 200 or neighbours.other.mark in found:
                differ.append((address, f"{name} {found}"))

    assert differ == []


def test_every_action_and_button_names_a_right_that_there_is() -> None:
    known = {
        f"{app}.{codename}"
        for app, codename in Permission.objects.values_list("content_type__app_label", "codename")
    }
    request = request_of(User(is_superuser=True, is_active=True))
    wrong = []
    for shown in admin.site._registry.values():
        for name, button in getattr(shown, "buttons", {}).items():
            if not button or set(button) - known:
                wrong.append(f"{shown} {name}")
        for name, found in shown.get_actions(request).items():
            allowed = getattr(found and found[0], "allowed_permissions", ())
            if not allowed or not all(hasattr(shown, f"has_{one}_permission") for one in allowed):
                wrong.append(f"{shown} {name}")

    assert wrong == []


def test_who_may_only_look_is_offered_no_action_and_no_button(neighbours: Neighbours) -> None:
    viewer = User.objects.create(username=f"vera-{neighbours.own.mark}", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    Membership.objects.create(user=viewer, organisation=neighbours.own.organisation)
    client = client_of(viewer)
    offered = [
        f"{shown} {name}"
        for shown in admin.site._registry.values()
        for name in actions_of(viewer, shown)
    ]
    answered = {}
    for route, _ in patterns():
        names = [first or second for first, second in PARAMETER.findall(route)]
        model = model_of(route)
        if names == ["key"] and model and "/saved/" not in route:
            key = neighbours.key(neighbours.own, model)
            answered[route] = client.post(PARAMETER.sub(key, route)).status_code

    assert offered == []
    assert len(answered) >= 9
    assert set(answered.values()) == {403}
