"""What cannot be stored, in every form and every list of the admin: answered in words, never with
an error of ours. Made from the pages themselves, so that a new form is tried by itself; the suite
tries a sample of what `make bench NAME=fuzz` does."""

import os
from typing import Any
from urllib.parse import quote_from_bytes, urljoin, urlsplit
from uuid import uuid4

import lxml.html  # type: ignore[import-untyped]
import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.clients import log_in_superuser
from tests.config.test_urls import OF_ALL, PARAMETER, Neighbours, patterns

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0")) * 20 or 20
# A form here would end the session or this process's right to ask.
LEFT_ALONE = ("logout", "password", "accounts/", "/auth/user/")
NASTY = [
    *(b"", b" ", b"\0", b"a\0b", b"\xed\xa0\x80", b"\xff\xfe", b"\xf0\x9f\x8f\xb4", b"a" * 100_000),
    *(b"9" * 400, b"-1", b"0", b"1e400", b"NaN", b"Infinity", b"1" * 20, b"-9223372036854775809"),
    *(b"1969-12-31", b"0001-01-01", b"9999-12-31T23:59:59Z", b"99999-99-99", b"0000-00-00T00:00"),
    *(b"[" * 3000, b'{"a":' * 3000, b'"\\ud800"', b'["\\u0000"]', b"[1e999]", b"[NaN]", b"null"),
    *(b'[{"kind": 1}]', b'{"kind": ["a"]}', b"[[]]", b"{}", b"[]", b"1", b'"a"', b"true"),
    *(b"../../etc/passwd", b"%00", b"http://[", b"https://a:99999/", b"a@b@c", b"\r\n.\r\n"),
    *(b"\xe2\x80\xae", b"\xcc\x81" * 500, b"00000000-0000-0000-0000-000000000000", b"__all__"),
]
ASKED = ("q", "p", "o", "all", "e", "_popup", "_to_field", "_changelist_filters", "before", "ids")


def encoded(pairs: list[tuple[str, bytes]]) -> bytes:
    return "&".join(
        f"{quote_from_bytes(name.encode())}={quote_from_bytes(value)}" for name, value in pairs
    ).encode()


def forms_of(client: Client, address: str) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """Where each form of a page is sent, and what it holds."""
    answer = client.get(address, follow=True)
    kind = answer.headers.get("Content-Type", "")
    if answer.status_code != 200 or not answer.content.strip() or not kind.startswith("text/html"):
        return []
    found = []
    for form in lxml.html.fromstring(answer.content).forms:
        to = urlsplit(urljoin(answer.request["PATH_INFO"], form.get("action") or ""))
        where = to.path + (f"?{to.query}" if to.query else "")
        fields = [(name, str(value or "").encode()) for name, value in form.form_values()]
        fields += [
            (one.get("name"), (one.get("value") or "").encode())
            for one in form.iter("button")
            if one.get("name")
        ]
        if form.method == "POST" and not any(one in where for one in LEFT_ALONE):
            found.append((where, fields))
    return found


@pytest.fixture
def world() -> Neighbours:
    return Neighbours()


def pages(world: Neighbours) -> list[str]:
    """Every page of the admin that needs no row, and each model's page of a row."""
    found = [
        route
        for route, name in patterns()
        if route.startswith("/admin/") and not PARAMETER.search(route) and name != "logout"
    ]
    for model in admin.site._registry:
        if model._meta.label not in OF_ALL:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            key = world.key(world.own, model)
            found.append(reverse(f"{name}_change", args=[key]))
    return found


def test_no_form_and_no_list_breaks_on_what_cannot_be_stored(world: Neighbours) -> None:
    client = log_in_superuser("fuzz")
    client.raise_request_exception = False
    addresses = pages(world)
    forms = [one for address in addresses for one in forms_of(client, address) if one[1]]
    broken: dict[str, Any] = {}

    @settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(data=st.data())
    def answers(data: st.DataObject) -> None:
        where, fields = data.draw(st.sampled_from(forms))
        names = st.sampled_from(sorted({name for name, _ in fields}))
        nasty = data.draw(st.dictionaries(names, st.sampled_from(NASTY), min_size=1, max_size=3))
        sent = encoded([(name, nasty.get(name, value)) for name, value in fields])
        kind = "application/x-www-form-urlencoded"
        answer = client.post(where, sent, content_type=kind)
        if answer.status_code >= 500:
            broken[where] = nasty

        address = data.draw(st.sampled_from(addresses))
        asked = data.draw(
            st.dictionaries(st.sampled_from(ASKED), st.sampled_from(NASTY), max_size=2)
        )
        query = encoded([(name, value[:2000]) for name, value in asked.items()]).decode()
        if client.get(f"{address}?{query}").status_code >= 500:
            broken[address] = asked

    answers()

    assert broken == {}
    assert len(forms) > 50


def test_what_is_no_key_is_refused_in_words_and_a_search_looks_where_a_list_says(
    world: Neighbours,
) -> None:
    client = log_in_superuser("olga")
    sent = {"account": "no key", "organisation": str(world.own.organisation.pk)}
    budget = client.post(reverse("admin:integrations_budget_add"), sent)
    group = client.post(reverse("admin:guardrails_targetgroup_add"), sent)
    flipped = client.post(
        reverse("admin:guardrails_killswitch_flip"),
        sent | {"account": str(uuid4()), "_try": "1"},
        follow=True,
    )
    superscript = client.get("/admin/audit/executedagentaction/²/change/", follow=True)
    factors = client.get(reverse("admin:mfa_authenticator_changelist"), {"q": "olga"})

    assert (budget.status_code, group.status_code) == (200, 200)
    assert "is not a valid UUID" in group.content.decode()
    assert "There is no such switch." in flipped.content.decode()
    assert superscript.status_code == 200  # back at the start, with a sentence
    assert factors.status_code == 200
