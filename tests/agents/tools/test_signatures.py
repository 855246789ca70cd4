"""A mail has the user's signature once, whatever the model wrote at its end."""

import pytest

from agents.tools.signatures import sign

PLAIN = "Maya Lindqvist\nBerg & Co"
CLOSED = "Best regards,\nMaya L.\nBerg & Co"
FIRM = "Berg & Co, Vienna"


@pytest.mark.parametrize(
    ("text", "signature", "signed"),
    [
        ("Yes.", PLAIN, f"Yes.\n\n{PLAIN}"),
        ("Yes.\n", "", "Yes.\n"),
        (f"Yes.\n\n{PLAIN}\n", PLAIN, f"Yes.\n\n{PLAIN}\n"),
        (
            "Yes.\n\nMaya Lindqvist,\nBerg and Co",
            PLAIN,
            f"Yes.\n\nMaya Lindqvist,\nBerg and Co\n\n{PLAIN}",
        ),
        ("Yes.\n\nMaya", PLAIN, f"Yes.\n\n{PLAIN}"),
        ("Yes.\n\nViele Grüße\nMaya Lindqvist", PLAIN, f"Yes.\n\nViele Grüße\n{PLAIN}"),
        ("Yes.\n\nCordialement,\n\nMaya\n", PLAIN, f"Yes.\n\nCordialement,\n{PLAIN}"),
        ("Yes.\n\n-- \nMaya", PLAIN, f"Yes.\n\n{PLAIN}"),
        ("Yes.\n\nKind regards,\nMaya", CLOSED, f"Yes.\n\n{CLOSED}"),
        ("Yes.\n\nKind regards", CLOSED, f"Yes.\n\n{CLOSED}"),
        ("Yes.\n\nBest,\nMaya", FIRM, f"Yes.\n\nBest,\nMaya\n\n{FIRM}"),
        # A name that is no signature stays.
        ("Who comes:\n- John\n- Maya", PLAIN, f"Who comes:\n- John\n- Maya\n\n{PLAIN}"),
        ("Maya", PLAIN, f"Maya\n\n{PLAIN}"),
        ("Ask Lindberg", "Berg", "Ask Lindberg\n\nBerg"),
    ],
)
def test_a_mail_is_signed_once(text: str, signature: str, signed: str) -> None:
    assert sign(text, signature, name="Maya Lindqvist") == signed
