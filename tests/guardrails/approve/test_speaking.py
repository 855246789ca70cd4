"""Cards and change requests in the language of who looks; what is bound and recorded in one."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from audit.ledger.selectors import recorded
from guardrails.approve.speaking import fill, say, spoken
from guardrails.facts.phrases import phrase, wordings
from guardrails.models import Approval
from integrations.models import UserPreferences
from integrations.web.languages import LANGUAGES, speaking
from tests.guardrails.approvals import ask
from tests.guardrails.change_requests import refuse
from tests.guardrails.office import CHAT, Office
from tests.guardrails.test_api import Api
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EVE = "eve@evil.example"
NOVEL = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
# Nothing of it is Remit's, and it looks like what is.
TITLE = "100% %(who)s “Archive” yes"


@pytest.fixture
def api(office: Office) -> Api:
    return Api(office.organisation, "approvals")


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("share_document", "ask", conditions=[NOVEL])
    office.put("documents", id="doc-pay", name=TITLE, content_text="yes")
    wish = {"document_id": "doc-pay", "email": EVE, "role": "reader"}
    origin = replace(CHAT, user_words="Was steht heute an?", reason="yes")
    return ask(office, "share_document", wish, origin=origin)


def read(api: Api, office: Office, path: str, language: str = "") -> Any:
    headers = api.headers | ({"Accept-Language": language} if language else {})
    return Client().get(path, {"user_id": office.user_id}, headers=headers).json()


def test_a_card_is_in_the_language_that_is_asked_for(
    office: Office, api: Api, waiting: Approval
) -> None:
    [card] = read(api, office, "/api/v1/approvals", "de-AT, en;q=0.3")

    assert card["heading"] == f"Für {EVE} als Leser freigeben"
    assert card["about"] == "“100% %(who)s 'Archive' yes”"
    assert card["title"] == "Ein Dokument freigeben"
    assert card["side_effects"] == [f"Erreicht andere: {EVE} wird Leser des ganzen Dokuments."]
    assert card["reason"] == ("Das muss erst ein Mensch bestätigen. Die Regeln sagen es so.")
    assert card["differences"] == [["Leser", "(nichts)", EVE]]
    lines = card["text"].splitlines()
    assert lines[1] == "Worte von jemandem dafür: “100% %(who)s 'Archive' yes”"
    assert lines[2].startswith(f"Mail: {EVE} (NEU: Niemand hat die Adresse selbst getippt")
    assert lines[3] == (f"{EVE} als Leser: wird es sehen (Dokument “100% %(who)s 'Archive' yes”).")
    assert "Wer es jetzt sieht: niemand sonst." in lines
    assert "Was sie lesen: yes" in lines
    assert "Die Worte des Benutzers: Was steht heute an?" in lines
    assert "Der Agent sagt (kein Beweis): yes" in lines
    assert card["params"] == waiting.arguments


def test_without_a_wish_it_is_in_the_language_that_the_user_prefers(
    office: Office, api: Api, waiting: Approval
) -> None:
    def heading(language: str = "") -> str:
        [card] = read(api, office, "/api/v1/approvals", language)
        return str(card["heading"])

    assert heading() == f"Share with {EVE} as reader"
    UserPreferences.objects.create(
        organisation=office.organisation, external_user_id=office.user_id, language="it-CH"
    )
    assert heading() == heading("pt-BR") == f"Condividere con {EVE} come lettore"
    assert heading("fr") == f"Partager avec {EVE} comme lecteur"


def test_the_digest_binds_the_same_in_every_language_and_the_ledger_is_in_one(
    office: Office, api: Api, waiting: Approval
) -> None:
    cards = {one: read(api, office, "/api/v1/approvals", one)[0] for one in LANGUAGES}
    questions = {one: read(api, office, "/api/v1/questions", one)[0] for one in LANGUAGES}

    assert {card["digest"] for card in cards.values()} == {waiting.digest}
    assert len({question["digest"] for question in questions.values()}) == 1
    assert len({card["text"] for card in cards.values()}) == len(LANGUAGES)
    body = {"user_id": office.user_id, "decision": "reject", "digest": cards["es"]["digest"]}
    decided = (
        Client()
        .post(
            f"/api/v1/approvals/{waiting.id}/decide",
            body,
            content_type="application/json",
            headers=api.headers | {"Accept-Language": "es"},
        )
        .json()
    )
    assert decided["approval"]["handled"].startswith("Rechazado por ")
    assert decided["approval"]["heading"] == f"Compartir con {EVE} como lector"
    phases = recorded(waiting.action_id)
    assert {row.payload.get("description") for row in phases} <= {waiting.description, None}
    assert waiting.description.startswith(f"Share with {EVE} as reader: ")
    assert office.calls() == []


def test_a_wish_for_more_is_in_the_language_of_who_asks(office: Office, api: Api) -> None:
    result = refuse(office)
    wish = {"user_id": office.user_id, "action_id": str(result.action_id)}
    french = api.headers | {"Accept-Language": "fr"}
    row = (
        Client()
        .post("/api/v1/change-requests", wish, content_type="application/json", headers=french)
        .json()
    )

    assert row["description"] == "Archiver : “Lunch on Friday?”"
    assert row["differences"] == [
        "Action permise « Archiver un message » ajouté : une personne est consultée chaque fois, "
        "seulement si une personne dans le chat l'a déclenché"
    ]
    assert row["sentence"].endswith("Cela attend un opérateur.")
    assert read(api, office, "/api/v1/change-requests")[0]["description"] == (
        "Archive: “Lunch on Friday?”"
    )
    [asked] = [one for one in recorded(row["id"]) if one.payload.get("said") == "asked"]
    assert asked.payload["differences"] == [
        "Allowed action “Archive a mail” added: a person is asked each time, only if a person in "
        "the chat set it off"
    ]
    again = Client().post(
        "/api/v1/change-requests",
        wish | {"action_id": row["id"]},
        content_type="application/json",
        headers=french,
    )
    assert again.json()["error"]["message"] in (
        "Les règles ne l'ont pas refusé.",
        "Cette action n'existe pas.",
    )


def test_a_condition_that_would_be_wider_is_in_the_language_of_who_asks(
    office: Office, api: Api
) -> None:
    office.permit("archive", conditions=[{"kind": "sender", "domains": ["other.example"]}])
    result = refuse(office)
    wish = {"user_id": office.user_id, "action_id": str(result.action_id)}
    german = api.headers | {"Accept-Language": "de"}
    row = (
        Client()
        .post("/api/v1/change-requests", wish, content_type="application/json", headers=german)
        .json()
    )

    assert row["differences"] == [
        "Erlaubte Aktion „Eine Mail archivieren“ geändert: ohne Frage erledigt, nur wenn die Mail "
        "von jemand bei other.example kommt → ohne Frage erledigt, nur wenn die Mail von "
        f"{ADA} oder jemand bei other.example kommt"
    ]
    [asked] = [one for one in recorded(row["id"]) if one.payload.get("said") == "asked"]
    assert asked.payload["differences"] == [
        "Allowed action “Archive a mail” changed: done without asking, only if the mail is from "
        "somebody at other.example → done without asking, only if the mail is from "
        f"{ADA} or somebody at other.example"
    ]


def test_somebodys_words_are_never_taken_for_remits() -> None:
    kept = wordings([phrase("yes"), phrase("Called %(name)s", name="yes")])
    with speaking("de"):
        assert say("yes", kept) == "ja"
        assert say("no", kept) == "no", "the row does not say that this line is Remit's"
        assert say("Archive", {}) == "Archive"
        assert spoken("yes") == "yes"
        assert spoken(phrase("yes")) == "ja"
        assert fill("%(number)s more", number="100% %(x)s") == "100% %(x)s weitere"
        assert say("", {"": {"template": "", "values": {}}}) == ""
