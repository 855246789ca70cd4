"""Web Push as RFC 8291 and 8292 have it, with their own example, and what is no subscription."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_django.fixtures import Settings

from integrations.exceptions import NotPermitted
from integrations.network import outgoing, web_push
from integrations.network.web_push import from_text, private_key, to_text
from tests.commands import run_command
from tests.push_world import CURVE, Browser, signed

PLACE = "https://push.example.com/send/abc"
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
# RFC 8291, section 5 and appendix A.
SAID = b"When I grow up, I want to be a watermelon"
THEIRS = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
SECRET = "BTBZMqHH6r4Tts7J_aSIgg"
OURS = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
ENCRYPTED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
    "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
    "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_the_standard_comes_out_byte_for_byte() -> None:
    browser = Browser(PLACE, private_key(THEIRS), from_text(SECRET))

    found = web_push.encrypt(
        SAID,
        web_push.read(browser.subscription),
        own=private_key(OURS),
        salt=from_text(SALT),
    )

    assert to_text(found) == ENCRYPTED


def test_the_longest_message_fits_and_one_byte_more_does_not() -> None:
    browser = Browser(PLACE)
    own, salt = ec.generate_private_key(CURVE), b"s" * 16
    subscription = web_push.read(browser.subscription)
    longest = json.dumps("x" * (web_push.MOST - 2)).encode()

    assert browser.read(web_push.encrypt(longest, subscription, own=own, salt=salt))
    with pytest.raises(ValueError, match="3993 bytes at most"):
        web_push.encrypt(longest + b" ", subscription, own=own, salt=salt)


def test_what_is_signed_is_for_this_push_service_alone(settings: Settings) -> None:
    public, settings.VAPID_PRIVATE_KEY = web_push.make_keys()
    settings.PUBLIC_URL = "https://remit.company.com"
    head = web_push.authorization("https://push.example.com:8443/send/abc", now=NOW)

    assert signed(head, public_key=public) == {
        "aud": "https://push.example.com:8443",
        "exp": int((NOW + timedelta(hours=12)).timestamp()),
        "sub": "https://remit.company.com",
    }
    settings.VAPID_PRIVATE_KEY = ""
    with pytest.raises(NotPermitted):
        web_push.authorization(PLACE, now=NOW)


def changed(**values: Any) -> str:
    return json.dumps(json.loads(Browser(PLACE).subscription) | values)


OFF_THE_CURVE = to_text(b"\4" + b"\1" * 64)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("null", "not what a browser says"),
        ("{}", "not what a browser says"),
        (changed(keys=None), "not what a browser says"),
        (changed(keys={"p256dh": OFF_THE_CURVE, "auth": SECRET}), "not what a browser says"),
        (changed(keys={"p256dh": "", "auth": SECRET}), "not what a browser says"),
        (changed(keys=json.loads(changed())["keys"] | {"auth": "AAAA"}), "not what a browser says"),
        (changed(keys=json.loads(changed())["keys"] | {"auth": 1}), "not what a browser says"),
        (changed(endpoint=1), "not what a browser says"),
        (changed(endpoint=f"{PLACE}{'a' * 2_000}"), "not what a browser says"),
        (changed(endpoint="http://push.example.com/a"), "begins with https://"),
        (changed(endpoint="https://169.254.169.254/latest"), "not public"),
        (changed(endpoint="https://u:p@push.example.com/a"), "without user"),
    ],
)
def test_what_is_no_subscription_is_refused_in_words(text: str, sentence: str) -> None:
    with pytest.raises(outgoing.Forbidden, match=sentence):
        web_push.read(text)


def test_nothing_secret_is_in_what_is_logged_of_a_subscription() -> None:
    found = repr(web_push.read(Browser(PLACE).subscription))

    assert found == "Subscription()"


def test_the_command_makes_a_pair(settings: Settings) -> None:
    made = dict(line.split("=", 1) for line in run_command("make_push_keys").split())
    settings.VAPID_PRIVATE_KEY = made["VAPID_PRIVATE_KEY"]

    head = web_push.authorization(PLACE, now=NOW)
    assert signed(head, public_key=made["VAPID_PUBLIC_KEY"])["aud"] == "https://push.example.com"
