"""The pages of logging in, in each language that Remit speaks: no sentence stays English."""

import re
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from integrations.models import PersonalSettings
from integrations.web.languages import LANGUAGES
from tests.clients import client_of

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TRANSLATED = [name for name in LANGUAGES if name != "en"]
ENTRANCE = ("login/", "logout/", "inactive/", "reauthenticate/", "password/change/")
SECOND = (
    *("", "totp/activate/", "recovery-codes/", "recovery-codes/generate/", "webauthn/"),
    *("webauthn/add/", "reauthenticate/"),
)
PASSWORD = "a long and honest one"
LETTERS = re.compile("[A-Za-z]{2}")
# What is the same word in another language, or a name.
SAME = {
    "de": {"Code", "Passkey", "Name", "Administration"},
    "fr": {"Code", "Identification"},
    "es": {"Passkey"},
    "it": {"Password", "Username"},
}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Everything that is looked up in a catalogue, with what it became."""
    found: dict[str, str] = {}
    real = translation._trans.gettext  # type: ignore[attr-defined]

    def note(text: str) -> str:
        found[text] = str(real(text))
        return found[text]

    monkeypatch.setattr(translation._trans, "gettext", note)  # type: ignore[attr-defined]
    return found


@pytest.fixture
def ann() -> User:
    user = User.objects.create(username="ann", is_staff=True)
    user.set_password(PASSWORD)
    user.save()
    return user


def visit(client: Client, address: str, language: str) -> Any:
    answer = client.get(f"/accounts/{address}", headers={"accept-language": language})
    if answer.status_code == 302:  # the password again, first
        assert "/reauthenticate/" in answer.headers["Location"]
        client.post("/accounts/reauthenticate/", {"password": PASSWORD})
        answer = client.get(f"/accounts/{address}", headers={"accept-language": language})
    return answer


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_page_of_logging_in_is_english(
    language: str, ann: User, said: dict[str, str], settings: Any
) -> None:
    RecoveryCodes.activate(ann)
    client = client_of(ann)
    for address in (*ENTRANCE, *(f"2fa/{one}" for one in SECOND)):
        reader = Client() if address in ("login/", "inactive/") else client
        answer = visit(reader, address, f"{language}-XX,en;q=0.5")
        assert (address, answer.status_code) == (address, 200)
        assert f'<html lang="{language}">' in answer.content.decode()
        assert answer.headers["Content-Language"] == language
        assert "Accept-Language" in answer.headers["Vary"]
        assert "no-store" in answer.headers.get("Cache-Control", "no-store")

    assert len(said) > 50
    plain = {text for text, become in said.items() if text == become and LETTERS.search(text)}
    assert plain - SAME[language] == set()


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("de", "Zu viele falsche Anmeldungen."), ("fr", "Trop de connexions erronées.")],
)
def test_a_refusal_to_log_in_is_in_the_browsers_language(
    language: str, sentence: str, ann: User
) -> None:
    client = Client(headers={"accept-language": language}, REMOTE_ADDR=f"203.0.113.{len(sentence)}")
    wrong = {"login": "ann", "password": "wrong"}
    page = ""
    for _ in range(7):
        page = client.post("/accounts/login/", wrong).content.decode()

    assert sentence in page
    assert "Too many" not in page


def test_who_chose_a_language_gets_it_on_their_pages_of_logging_in_too(ann: User) -> None:
    PersonalSettings.objects.create(user=ann, language="it")
    page = visit(client_of(ann), "password/change/", "fr").content.decode()

    assert '<html lang="it">' in page
    assert "Cambia la tua Password" in page


def test_who_has_no_second_factor_reads_so_in_their_language(ann: User, settings: Any) -> None:
    settings.SECOND_FACTOR = True
    client = Client(headers={"accept-language": "es"})
    client.force_login(ann)
    page = client.get("/console/you", follow=True).content.decode()

    assert "Configure primero un segundo factor" in page


def test_a_page_that_is_not_there_or_too_old_says_so_in_the_browsers_language(ann: User) -> None:
    client = Client(headers={"accept-language": "de", "accept": "text/html"})
    missing = client.get("/nowhere")
    strict = Client(
        headers={"accept-language": "fr", "accept": "text/html"}, enforce_csrf_checks=True
    )
    strict.force_login(ann)
    old = strict.post("/console/you", {})

    assert (missing.status_code, missing.headers["Content-Language"]) == (404, "de")
    assert "Diese Seite gibt es nicht." in missing.content.decode()
    assert old.status_code == 403
    assert "Cette page est trop ancienne." in old.content.decode()


def test_who_logs_out_of_the_admin_comes_to_the_page_for_logging_in(ann: User) -> None:
    answer = client_of(ann).post("/admin/logout/")

    assert answer.headers["Location"] == "/accounts/login/"


def test_programs_get_the_sentence_in_their_language_and_the_same_code() -> None:
    answer = Client().get("/nowhere", headers={"accept-language": "it"})

    assert answer.json()["code"] == "not_found"
    assert answer.json()["detail"] == "Questa pagina non esiste."
    assert re.search("Accept-Language", answer.headers["Vary"])
