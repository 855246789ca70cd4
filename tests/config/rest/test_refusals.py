"""In which language the API refuses: the caller's, with the same code in each."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.models import Message
from config.rest import refusals
from integrations.models import (
    Membership,
    Organisation,
    PersonalSettings,
    ServiceToken,
    UserPreferences,
)
from integrations.web.authentication import TokenThrottle
from integrations.web.problems import MEDIA_TYPE
from tests.agents.pages import mailbox
from tests.clients import client_of, log_in
from tests.database import failing_with
from tests.office import entrance
from tests.sandbox_server import serving

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
UNKNOWN = "/api/v1/turns/01a21e70-234d-73b2-8a9f-0b6632681974"
SAID = {
    "en": ("There is no such turn", "There is no such turn."),
    "de": ("Diesen Durchgang gibt es nicht", "Diesen Durchgang gibt es nicht."),
    "es": ("No existe ese turno", "No existe ese turno."),
    "fr": ("Ce tour n'existe pas", "Ce tour n'existe pas."),
    "it": ("Questo turno non esiste", "Questo turno non esiste."),
}


def issue(*user_ids: str) -> str:
    organisation = mailbox("maya").organisation
    given: dict[str, Any] = {"name": "web", "scopes": ["chat"], "user_ids": list(user_ids)}
    return ServiceToken.issue(organisation=organisation, **given)[1]


def ask(client: Client, address: str, language: str, token: str = "") -> Any:
    headers = {"accept-language": language}
    if token:
        headers["authorization"] = f"Bearer {token}"
    return client.get(address, {"user_id": "maya"}, headers=headers)


def choose(language: str) -> None:
    UserPreferences.objects.create(
        organisation=Organisation.objects.get(), external_user_id="maya", language=language
    )


@pytest.mark.parametrize("language", SAID)
def test_a_refusal_is_in_the_callers_language_and_its_code_is_the_same(
    client: Client, language: str
) -> None:
    answer = ask(client, UNKNOWN, f"tlh,{language}-XX;q=0.9", issue())

    said = answer.json()
    assert (answer.status_code, said["code"], said["type"]) == (
        404,
        "unknown_turn",
        "/api/problems#unknown_turn",
    )
    assert (said["title"], said["detail"]) == SAID[language]
    assert said["error"] == {"code": "unknown_turn", "message": SAID[language][1]}
    assert answer.headers["Content-Language"] == language
    assert "Accept-Language" in answer.headers["Vary"]


def test_what_the_user_of_a_token_chose_wins_and_of_a_token_for_many_the_header_does(
    client: Client,
) -> None:
    own, many = issue("maya"), issue()
    choose("it")

    assert ask(client, UNKNOWN, "de", own).json()["detail"] == SAID["it"][1]
    assert ask(client, UNKNOWN, "de", many).json()["detail"] == SAID["de"][1]


def test_a_session_is_refused_in_what_its_person_chose() -> None:
    mailbox("maya")
    maya = log_in("maya.lindqvist", "use_own_console")
    Membership.objects.update(external_user_id="maya")
    choose("fr")
    olga = User.objects.create(username="olga", is_staff=True, is_superuser=True)
    PersonalSettings.objects.create(user=olga, language="es")

    assert ask(maya, UNKNOWN, "de").json()["detail"] == SAID["fr"][1]
    assert ask(client_of(olga), UNKNOWN, "de").json()["detail"] == SAID["es"][1]


def test_each_field_is_said_in_that_language_too(client: Client) -> None:
    answer = client.post(
        "/api/v1/chat",
        {"user_id": "maya", "message": "Hello", "mesage": "x"},
        content_type="application/json",
        headers={"accept-language": "de", "authorization": f"Bearer {issue()}"},
    )

    said = answer.json()
    assert (answer.status_code, said["code"]) == (400, "invalid")
    assert said["fields"] == {"mesage": "Dieses Feld ist unbekannt."}
    assert said["detail"] == "mesage: Dieses Feld ist unbekannt."


def test_who_is_nobody_hears_it_in_the_browsers_language(client: Client) -> None:
    said = ask(client, UNKNOWN, "fr", "remit_nonsense")

    assert (said.status_code, said.json()["code"]) == (401, "authentication_failed")
    assert said.json()["detail"] == "Ce jeton est inconnu, expiré ou révoqué."


def test_a_sentence_without_translation_says_that_it_is_english(client: Client) -> None:
    organisation = mailbox("maya").organisation
    given: dict[str, Any] = {"name": "web", "scopes": ["audit:read"]}
    token = ServiceToken.issue(organisation=organisation, **given)[1]

    headers = {"accept-language": "de", "authorization": f"Bearer {token}"}
    answer = client.get("/api/v1/ledger/bundle", headers=headers)

    said = answer.json()
    assert (answer.status_code, said["code"]) == (409, "not_sealed")
    assert said["detail"].startswith("Nothing of this organisation, or not its last erasure, is")
    assert said["title"] == "Die neuesten Zeilen des Protokolls haben noch kein Siegel"
    assert answer.headers["Content-Language"] == "de, en"


@pytest.mark.parametrize(
    ("user_ids", "query", "code", "said"),
    [
        (
            ["maya"],
            {},
            (403, "permission_denied"),
            "Ein Feed enthält die Aktionen aller Benutzer; dieses Token deckt nur manche ab.",
        ),
        ([], {"place": 7}, (409, "ahead_of_ledger"), "Platz 7 liegt hinter dem Ende dieses"),
    ],
    ids=["some users", "ahead"],
)
def test_the_feed_refuses_in_that_language(
    user_ids: list[str], query: dict[str, int], code: tuple[int, str], said: str
) -> None:
    organisation = mailbox("maya").organisation
    given: dict[str, Any] = {"name": "siem", "scopes": ["audit:read"], "user_ids": user_ids}
    token = ServiceToken.issue(organisation=organisation, **given)[1]
    headers = {"accept-language": "de", "authorization": f"Bearer {token}"}

    with serving(entrance()) as origin:
        answer = httpx.get(f"{origin}/api/v1/ledger/feed", params=query, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == code
    assert answer.json()["detail"].startswith(said)
    assert answer.headers["Content-Language"] == "de"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "This token or login lacks the scope “audit:read”."),
        ("de", "Diesem Token oder dieser Anmeldung fehlt das Recht „audit:read“."),
        ("fr", "Il manque à ce jeton ou à cette connexion le droit « audit:read »."),
        ("es", "A este token o a esta sesión le falta el permiso «audit:read»."),
        ("it", "A questo token o a questo accesso manca il permesso «audit:read»."),
    ],
)
def test_a_scope_that_is_missing_is_named_in_that_language(
    client: Client, language: str, said: str
) -> None:
    answer = ask(client, "/api/v1/ledger", language, issue())

    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert answer.json()["detail"] == said
    assert answer.headers["Content-Language"] == language


@pytest.mark.parametrize(
    ("body", "english", "german"),
    [
        ('{"a":', "it cannot be read from line 1, column 6 on.", "Ab Zeile 1, Spalte 6 kann er"),
        ('{"a":1,"a":2}', "a key is there twice.", "Ein Schlüssel steht zweimal da."),
        ("[1]", "it must be an object.", "Es muss ein Objekt sein."),
        ("[" * 99_999, "it is nested too deeply.", "Er ist zu tief verschachtelt."),
        ('{"a":NaN}', "NaN is not a JSON number.", "NaN ist keine Zahl in JSON."),
        ('{"a":-Infinity}', "-Infinity is not a JSON number.", "-Infinity ist keine Zahl in"),
        (b'{"a":"\xe4"}', "it is not UTF-8 text.", "Er ist kein Text in UTF-8."),
    ],
)
def test_a_body_that_is_no_json_object_is_said_where_and_why(
    client: Client, body: str | bytes, english: str, german: str
) -> None:
    headers = {"authorization": f"Bearer {issue()}"}

    def post(language: str) -> dict[str, str]:
        answer = client.post(
            "/api/v1/chat",
            body,
            content_type="application/json",
            headers=headers | {"accept-language": language},
        )
        assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")
        return dict(answer.json())

    assert post("en")["detail"] == f"The body is not a valid JSON object: {english}"
    said = post("de")["detail"]
    assert said.startswith("Der Inhalt ist kein gültiges JSON-Objekt: ")
    assert german in said


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Der Inhalt ist kein gültiges JSON-Objekt: Infinity ist keine Zahl in JSON."),
        ("fr", "Le corps n'est pas un objet JSON valide : Infinity n'est pas un nombre JSON."),
        ("es", "El cuerpo no es un objeto JSON válido: Infinity no es un número JSON."),
        ("it", "Il corpo non è un oggetto JSON valido: Infinity non è un numero JSON."),
    ],
)
def test_a_number_that_json_has_not_is_refused_over_http(language: str, said: str) -> None:
    headers = {"authorization": f"Bearer {issue()}", "content-type": "application/json"}

    with serving(entrance()) as origin:
        answer = httpx.post(
            f"{origin}/api/v1/chat",
            content=b'{"user_id":"maya","message":"Hello","seed":Infinity}',
            headers=headers | {"accept-language": language},
        )

    assert (answer.status_code, answer.headers["content-type"]) == (400, MEDIA_TYPE)
    assert (answer.json()["code"], answer.json()["detail"]) == ("parse_error", said)
    assert answer.headers["content-language"] == language
    assert Message.objects.count() == 0


def test_a_method_a_medium_and_a_rate_are_refused_in_that_language(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"authorization": f"Bearer {issue()}", "accept-language": "de"}

    wrong = client.delete("/api/v1/chat", headers=headers)
    odd = client.post("/api/v1/chat", "x", content_type="text/plain", headers=headers)
    monkeypatch.setattr(TokenThrottle, "rate", "1/minute", raising=False)
    client.get(UNKNOWN, headers=headers)
    often = client.get(UNKNOWN, headers=headers)

    assert [one.status_code for one in (wrong, odd, often)] == [405, 415, 429]
    assert wrong.json()["detail"] == 'Methode "DELETE" nicht erlaubt.'
    assert odd.json()["detail"] == 'Nicht unterstützter Medientyp "text/plain" in der Anfrage.'
    assert often.json()["detail"].startswith("Die Anfrage wurde gedrosselt.")
    assert often.json()["title"] == "Zu viele Anfragen"
    assert {one.headers["Content-Language"] for one in (wrong, odd, often)} == {"de"}


def test_what_the_database_cannot_do_is_said_without_asking_it(client: Client) -> None:
    token = issue("maya")
    choose("it")
    with failing_with("agents_turn", "53100"):
        answer = client.post(
            "/api/v1/chat/stream",
            {"user_id": "maya", "message": "Hello"},
            content_type="application/json",
            headers={"accept-language": "es", "authorization": f"Bearer {token}"},
        )

    assert (answer.status_code, answer.json()["code"]) == (503, "storage_full")
    assert answer.json()["detail"].startswith("No queda espacio")


def test_the_page_of_errors_is_in_the_browsers_language(client: Client) -> None:
    page = client.get("/api/problems", headers={"accept-language": "de"}).content.decode()

    assert "<h1>Fehler der API</h1>" in page
    assert "<code>unknown_turn</code> (404)" in page
    assert "Diesen Durchgang gibt es nicht." in page


def test_every_sentence_that_has_a_translation_is_one_that_is_raised() -> None:
    folders = (
        "agents/api",
        "guardrails/api",
        "guardrails/learn",
        "audit/api",
        "config/rest",
        "integrations",
        "knowledge",
    )
    own = Path(refusals.__file__)
    files = (one for folder in folders for one in Path(folder).rglob("*.py"))
    code = "\n".join(one.read_text("utf-8") for one in files if one.resolve() != own.resolve())

    missing = {one for one in refusals.SENTENCES if f'"{one}"' not in code}
    assert missing == {refusals.NOTHING_HERE}
