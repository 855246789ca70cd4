"""The stand-in says what came of a command in the language of the request."""

import pytest
from openai import OpenAI

from sandbox.offline_model.languages import language_of
from tests.sandbox.dialogue import action, found, item, refusal
from tests.sandbox.test_offline_model_actions import asking


@pytest.mark.parametrize(
    ("request_", "language", "done", "refused", "confirmed"),
    [
        (
            "Archiviere die Mail von Katrin",
            "de",
            "Erledigt: die Mail archivieren.",
            "Abgelehnt: die Mail archivieren. Das ist hier nicht erlaubt oder nicht möglich.",
            "Erledigt!\n- die Mail archivieren („Umzug“)",
        ),
        (
            "Archive le courriel de Katrin",
            "fr",
            "C'est fait : archiver le courriel.",
            "Refusé : archiver le courriel. Ce n'est pas permis ou pas possible ici.",
            "C'est fait !\n- archiver le courriel („Umzug“)",
        ),
        (
            "Archiva el correo de Katrin",
            "es",
            "Hecho: archivar el correo.",
            "Rechazado: archivar el correo. Aquí no está permitido o no es posible.",
            "¡Hecho!\n- archivar el correo („Umzug“)",
        ),
    ],
)
def test_outcomes_and_decisions_are_said_in_the_users_language(
    client: OpenAI, request_: str, language: str, done: str, refused: str, confirmed: str
) -> None:
    assert language_of(request_) == language
    for result, said in (
        (action("Archive: “Umzug”", "executed"), done),
        (refusal("It is an alert."), refused),
    ):
        dialogue = asking(client, request_)
        dialogue.answers()
        dialogue.returns(found(item(1, "Umzug", **{"from": "Katrin (k@client.com)"})))
        dialogue.answers()
        dialogue.returns(result)
        assert dialogue.says() == said
    dialogue.decided(
        {
            "decision": "confirmed",
            "type": "archive",
            "status": "succeeded",
            "description": "Archive: “Umzug”",
        }
    )
    assert dialogue.says() == confirmed


@pytest.mark.parametrize(
    "text", ["Archive the mail from Katrin", "Send el@company.com a mail: hi", "PROJ-12", ""]
)
def test_english_is_what_no_word_says_otherwise(text: str) -> None:
    assert language_of(text) == "en"
