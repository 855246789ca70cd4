"""Blanks that a model leaves in a mail are found, and what people write in brackets is none."""

import pytest

from agents.tools import placeholders


@pytest.mark.parametrize(
    "blank",
    [
        *("[Your Name]", "[your_name]", "{{name}}", "[Name]", "[Date]", "[Company]", "[My Name]"),
        *("[Ihr Name]", "[Dein Name]", "[Datum]", "[Uhrzeit]", "[hier Datum einfügen]"),
        *("[Votre nom]", "[Nom]", "[insérer la date]", "[Tu nombre]", "[insertar fecha]"),
        *("[Il tuo nome]", "[inserire la data]", "[Phone number]", "[XX]", "[Recipient's name]"),
        *("[insert link here]", "[your position]", "[Sender Name]"),
    ],
)
def test_a_blank_is_found(blank: str) -> None:
    assert placeholders.find(f"Hello,\n\nsee you.\n{blank}") == [blank]


@pytest.mark.parametrize(
    "text",
    [
        *("See [1] and [2, 3].", "[PROJ-12] is done", "[EXTERNAL] Re: offer", "a[0] = {}"),
        *("[sic]", "[John Smith](https://company.com)", "[Attachment: plan.pdf]", "[…]"),
        *("[x] done, [ ] open", "The [time zone] column", "{name: 7}", "[update]", "[mit Anna]"),
        "Please [hier bestätigen](https://company.com), or [your account](https://company.com).",
    ],
)
def test_other_brackets_stay(text: str) -> None:
    assert placeholders.find(text) == []


def test_what_the_user_typed_is_no_blank() -> None:
    assert placeholders.find("Dear [Name],", typed="Send “Dear [Name],” as it is.") == []


def test_the_name_stands_where_a_blank_was_left_for_it() -> None:
    text = "Dear [Name],\n\nyes.\n\n[Your Full Name] / [Ihr Name] / {{your_name}}"
    assert placeholders.put_in_name(text, "Maya L.") == (
        "Dear [Name],\n\nyes.\n\nMaya L. / Maya L. / Maya L."
    )
