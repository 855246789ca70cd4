"""A directory from a file or a provider, in the browser: shown, then applied."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from guardrails.models import Person
from guardrails.policies.history import history
from integrations.models import Account, Organisation
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
CSV = "address;name;kind\nzoe@company.com;Zoë Müller;person\nall@company.com;Everyone;group\n"


@pytest.fixture
def client(office: Office) -> Client:
    found = Client()
    found.force_login(User.objects.create_superuser(f"olga-{uuid4().hex[:8]}"))
    return found


def address(office: Office) -> str:
    return f"{reverse('admin:guardrails_person_import')}?organisation={office.organisation.slug}"


def upload(client: Client, office: Office, content: bytes, **more: Any) -> HttpResponse:
    file = SimpleUploadedFile("people.csv", content)
    return client.post(address(office), {"file": file, **more})  # type: ignore[return-value]


def kept(answer: HttpResponse) -> dict[str, str]:
    """The hidden fields of the form that applies what was shown."""
    found: dict[str, str] = answer.context["hidden_fields"]  # type: ignore[attr-defined]
    return found


def text_of(answer: HttpResponse) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.content.decode()))


def test_a_file_is_shown_in_words_and_applied_at_one_button(client: Client, office: Office) -> None:
    people = office.organisation.people

    shown = upload(client, office, CSV.encode("utf-16"))

    assert "2 entries would change" in text_of(shown)
    assert "zoe@company.com added: Zoë Müller, entered or imported" in text_of(shown)
    assert "all@company.com added: Everyone, a group: many people read it" in text_of(shown)
    assert not people.exists()
    client.post(address(office), kept(shown) | {"_save": "1"})
    assert sorted(people.values_list("address", "name", "is_group", "source")) == [
        ("all@company.com", "Everyone", True, "operator"),
        ("zoe@company.com", "Zoë Müller", False, "operator"),
    ]
    who = {one.who for one in history(organisation_id=office.organisation.pk).changes}
    assert who == {f"operator {User.objects.get(pk=client.session['_auth_user_id']).username}"}


def test_a_wrong_line_is_named_and_nothing_is_changed(client: Client, office: Office) -> None:
    answer = upload(client, office, b"address,name\n<b>,Zoe\nzoe@company.com,=cmd()\n")

    said = answer.content.decode()
    assert "Nothing was changed." in said
    assert "Line 2: the address is not one plain address" in said
    assert "Line 3: a name has signs that no name has" in said
    assert "<b>" not in said.partition("Nothing was changed.")[2].partition("</ul>")[0]
    assert "Line 2: the file is not UTF-8" in text_of(upload(client, office, b"a,b\n\xe9"))
    assert not office.organisation.people.exists()


def test_only_what_was_shown_is_applied(client: Client, office: Office) -> None:
    shown = kept(upload(client, office, CSV.encode(), whole="on"))
    Person.objects.create(organisation=office.organisation, name="Tom", address="tom@company.com")

    answer = client.post(address(office), shown | {"_save": "1"})

    assert "The directory changed meanwhile." in answer.content.decode()
    assert [one.address for one in office.organisation.people.all()] == ["tom@company.com"]


def test_the_providers_directory_is_shown_and_applied(client: Client, office: Office) -> None:
    office.list_people({"address": "zoe@company.com", "name": "Zoë Müller"})

    shown = client.post(address(office), {"account": str(office.mailbox.pk)})

    assert "zoe@company.com added: Zoë Müller, read from the provider" in text_of(shown)  # type: ignore[arg-type]
    assert not office.organisation.people.exists()
    client.post(address(office), kept(shown) | {"_save": "1"})  # type: ignore[arg-type]
    assert [(one.address, one.source) for one in office.organisation.people.all()] == [
        ("zoe@company.com", "provider")
    ]


def test_a_provider_in_trouble_and_another_organisations_mailbox_change_nothing(
    client: Client, office: Office
) -> None:
    office.list_people({"address": "zoe@company.com", "name": "Zoë Müller"})
    elsewhere = Account.objects.create(
        organisation=Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Elsewhere"),
        external_user_id=office.mailbox.external_user_id,
        source="gmail",
        address="eve@evil.example",
    )

    answer = client.post(address(office), {"account": str(elsewhere.pk), "_save": "1"})
    assert "chosen" not in answer.context
    office.faults(error_rate=1.0)
    answer = client.post(address(office), {"account": str(office.mailbox.pk), "_save": "1"})

    assert "The provider could not be asked. Try again later." in answer.content.decode()
    assert not Person.objects.filter(organisation=office.organisation).exists()


def test_who_may_only_look_changes_nothing(office: Office) -> None:
    viewer = User.objects.create_user(f"vera-{uuid4().hex[:8]}", is_staff=True)
    client = Client()
    client.force_login(viewer)
    assert upload(client, office, CSV.encode()).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="view_person"))
    assert upload(client, office, CSV.encode()).status_code == 404  # of no organisation
    office.organisation.memberships.create(user=viewer)

    shown = upload(client, office, CSV.encode())

    assert "You may look, but not apply it." in text_of(shown)
    assert client.post(address(office), kept(shown) | {"_save": "1"}).status_code == 403
    assert not office.organisation.people.exists()
