"""The directory and the own domains in the admin: recorded as policy, and closed to typos."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from guardrails.models import Person
from guardrails.policies.history import history
from integrations.models import Organisation

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def client(organisation: Organisation) -> Client:
    found = Client()
    found.force_login(User.objects.create_superuser(f"olga-{uuid4().hex[:8]}"))
    return found


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="House")


def author_of(client: Client) -> str:
    return f"operator {User.objects.get(pk=client.session['_auth_user_id']).username}"


def test_an_entered_person_is_policy_and_is_found_by_every_spelling(
    client: Client, organisation: Organisation
) -> None:
    client.post(
        reverse("admin:guardrails_person_add"),
        {
            "organisation": organisation.pk,
            "name": " Zoë  Müller",
            "other_names": "Zo",
            "address": "zoe@Company.COM",
        },
    )

    person = Person.objects.get(organisation=organisation)
    assert (person.name, person.address) == ("Zoë Müller", "zoe@company.com")
    assert person.words == ["mueller", "muller", "zo", "zoe"]
    (change,) = history(organisation_id=organisation.pk).changes
    assert (change.who, change.verb, change.kind) == (
        author_of(client),
        "added",
        "person of the directory",
    )
    assert {one.name: one.after for one in change.fields} == {
        "address": "zoe@company.com",
        "is group": "no",
        "name": "Zoë Müller",
        "other names": '["Zo"]',
        "source": "operator",
    }


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("", "zoe@company.com"),
        ("123", "zoe@company.com"),
        ("Zoe <zoe@company.com>", "zoe@company.com"),
        ("Z\u200boe", "zoe@company.com"),
        ("\u0420riya Shah", "zoe@company.com"),  # one Cyrillic letter
        ("Zoe", "Zoe <zoe@company.com>"),
        ("Zoe", "zoe@company.com, eve@evil.example"),
        ("Zoe", "zoe@xn--company.com"),
        ("Zoe", "zo\u00eb@company.com"),
    ],
)
def test_what_is_no_name_or_no_address_is_refused(
    organisation: Organisation, name: str, address: str
) -> None:
    with pytest.raises(ValidationError):
        Person.objects.create(organisation=organisation, name=name, address=address)
    assert not organisation.people.exists()


@pytest.mark.parametrize(
    "domain",
    ["gmail.com", "GMX.de", "company", "company.com.", "xn--company.com", "c\u043empany.com"],
)
def test_a_domain_that_is_not_plainly_ones_own_is_refused(
    client: Client, organisation: Organisation, domain: str
) -> None:
    answer = client.post(
        reverse("admin:guardrails_owndomain_add"),
        {"organisation": organisation.pk, "domain": domain},
    )

    assert not organisation.own_domains.exists()
    if domain == "gmail.com":
        assert "Anybody can have an address at gmail.com" in answer.content.decode()


def test_an_own_domain_is_listed_once_in_small_letters(
    client: Client, organisation: Organisation
) -> None:
    for domain in ("Company.com", "company.com"):
        client.post(
            reverse("admin:guardrails_owndomain_add"),
            {"organisation": organisation.pk, "domain": domain},
        )

    assert [one.domain for one in organisation.own_domains.all()] == ["company.com"]
    (change,) = history(organisation_id=organisation.pk).changes
    assert (change.kind, change.name) == ("own domain", "company.com")
