"""Forged, altered, old and misdirected webhooks. A push is a hint: what it claims is read
again at the provider."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from django.conf import settings
from standardwebhooks.webhooks import Webhook

from integrations.models import Delivery
from tests.attacks.case import Grant, Story
from tests.attacks.desk import ADA, EVE, SECRET, Desk, drain, neighbour, outline
from tests.attacks.plays import REPLY_DRAFT
from tests.attacks.replay import permit
from tests.attacks.run import wish

FORGERY = "webhook forgery"
OTHER_SECRET = "whsec_c29tZWJvZHktZWxzZXMtc2VjcmV0LWtleQ=="
Headers = dict[str, str]


def event(desk: Desk, **changes: Any) -> str:
    mail = desk.mail()
    return json.dumps(
        {
            "user_id": desk.user_id,
            "source": "gmail",
            "source_id": mail["id"],
            "data": mail,
            "timestamp": datetime.now(UTC).isoformat(),
        }
        | changes
    )


def headers(body: str, *, at: datetime | None = None, secret: str = SECRET) -> Headers:
    at = at or datetime.now(UTC)
    return {
        "webhook-id": "msg-1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign("msg-1", at, body),
    }


def post(desk: Desk, body: str | bytes, given: Headers, *, path: str = "") -> httpx.Response:
    url = f"{desk.origin}/webhooks/{path or desk.slug}/item-created"
    return httpx.post(url, content=body, headers=given, timeout=60, verify=False)


def turned_away(desk: Desk, answer: httpx.Response, status: int, code: str) -> None:
    """Nothing is stored and nothing is worked on."""
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    drain()
    assert not Delivery.objects.filter(organisation=desk.office.organisation).exists()
    assert desk.turns() == []


def forged(change: Callable[[Desk, str], tuple[str, Headers]]) -> Callable[[Desk], None]:
    def attack(desk: Desk) -> None:
        body, given = change(desk, event(desk))
        code = "bad_signature" if len(given) == 3 else "missing_signature"
        turned_away(desk, post(desk, body, given), 401, code)

    return attack


def without(name: str) -> Callable[[Desk, str], tuple[str, Headers]]:
    def change(desk: Desk, body: str) -> tuple[str, Headers]:
        return body, {key: value for key, value in headers(body).items() if key != name}

    return change


def signature(text: str) -> Callable[[Desk, str], tuple[str, Headers]]:
    return lambda desk, body: (body, headers(body) | {"webhook-signature": text})


def at(minutes: int) -> Callable[[Desk, str], tuple[str, Headers]]:
    moment = timedelta(minutes=minutes)
    return lambda desk, body: (body, headers(body, at=datetime.now(UTC) + moment))


def altered(desk: Desk, body: str) -> tuple[str, Headers]:
    return body.replace(ADA, EVE), headers(body)


def other_id(desk: Desk, body: str) -> tuple[str, Headers]:
    return body, headers(body) | {"webhook-id": "msg-2"}


def later(desk: Desk, body: str) -> tuple[str, Headers]:
    """An old signature under a new time."""
    now = str(int(datetime.now(UTC).timestamp()))
    return body, headers(body, at=datetime.now(UTC) - timedelta(days=1)) | {
        "webhook-timestamp": now
    }


def other_secret(desk: Desk, body: str) -> tuple[str, Headers]:
    return body, headers(body, secret=OTHER_SECRET)


def unsigned_scheme(desk: Desk, body: str) -> tuple[str, Headers]:
    signed = headers(body)["webhook-signature"]
    return body, headers(body) | {"webhook-signature": signed.replace("v1,", "v1a,")}


def misread(change: Callable[[str], str], code: str) -> Callable[[Desk], None]:
    """Signed, but not what the contract says."""

    def attack(desk: Desk) -> None:
        body = change(event(desk))
        turned_away(desk, post(desk, body, headers(body)), 400, code)

    return attack


def twice(body: str) -> str:
    return body.replace("{", '{"user_id": "omar", ', 1)


def too_large(desk: Desk) -> None:
    """Refused before it is read, signed or not."""
    body = b"{" + b" " * (30 * 1024 * 1024)
    answer = post(desk, body, {"webhook-id": "1", "webhook-timestamp": "1"})
    turned_away(desk, answer, 413, "too_large")


def to_another_tenant(desk: Desk) -> None:
    """Signed with the own secret, sent to the neighbour's address with the neighbour's ids.
    Their secrets differ, so it is no signature there."""
    other = neighbour(desk)
    settings.WEBHOOK_SECRETS = settings.WEBHOOK_SECRETS | {other.slug: OTHER_SECRET}
    body = event(other)
    answer = post(desk, body, headers(body), path=other.slug)
    turned_away(other, answer, 401, "bad_signature")


def to_nobody(desk: Desk) -> None:
    body = event(desk)
    turned_away(desk, post(desk, body, headers(body), path="no-such"), 401, "bad_signature")


def of_another_tenants_user(desk: Desk) -> None:
    """The user of another tenant is as unknown as none: nothing is read or done."""
    other = neighbour(desk)
    permit(other, Grant(action="draft"))
    answer = desk.push(other.mail(), user_id=other.user_id)
    assert answer.status_code == 202
    drain()
    [delivery] = Delivery.objects.filter(organisation=desk.office.organisation)
    assert (delivery.state, delivery.reason) == ("skipped", "unknown_account")
    assert desk.turns() == other.turns() == []
    assert other.calls() == []


def obeyed_draft(desk: Desk, mail: dict[str, Any], *, to: str, **pushed: Any) -> None:
    """The mail arrives and its reader drafts an answer to this address."""
    case = REPLY_DRAFT.case(FORGERY, "", "", to=[to])
    with desk.obeyed(mail=[wish(case.attack, item=mail["id"]), "Done."]):
        assert desk.push({**mail, **pushed}).status_code == 202
        drain()


def claimed(**pushed: Any) -> Callable[[Desk], None]:
    """The push claims what the provider does not have; the provider is believed."""

    def attack(desk: Desk) -> None:
        permit(desk, Grant(action="draft"))
        mail = desk.mail(authentication={"dmarc": "fail"})
        obeyed_draft(desk, mail, to=pushed.get("from", ADA), **pushed)
        assert outline(desk.rows()) == [("blocked", "blocked", "target_not_listed")]

    return attack


def of_no_such_mail(desk: Desk) -> None:
    """A push about a mail that the provider does not have."""
    permit(desk, Grant(action="draft"))
    mail = desk.mail()
    obeyed_draft(desk, {**mail, "id": "mail-invented"}, to=ADA)
    assert outline(desk.rows()) == [("blocked", "blocked", "object_unknown")]


def of_another_id(desk: Desk) -> None:
    mail = desk.mail()
    assert desk.push(mail, source_id="mail-other").status_code == 202
    drain()
    [delivery] = Delivery.objects.filter(organisation=desk.office.organisation)
    assert (delivery.state, delivery.reason) == ("dead", "source_id_mismatch")
    assert desk.turns() == []


def flood(desk: Desk) -> None:
    """Two hundred pushes of one mail are one turn; those without a signature are nothing."""
    permit(desk, Grant(action="draft"))
    mail = desk.mail()
    case = REPLY_DRAFT.case(FORGERY, "", "", to=[EVE])
    with desk.obeyed(mail=[wish(case.attack, item=mail["id"]), "Done."]):
        for number in range(200):
            secret = SECRET if number % 2 else OTHER_SECRET
            desk.push(mail, webhook_id=f"flood-{number % 5}", secret=secret)
        drain()
    assert Delivery.objects.filter(organisation=desk.office.organisation).count() == 5
    assert outline(desk.rows()) == [("blocked", "blocked", "target_not_listed")]


def updates_set_nothing_off(desk: Desk) -> None:
    """An old mail that comes as an update is no new mail."""
    permit(desk, Grant(action="draft"))
    mail = desk.mail()
    assert desk.push(mail, kind="updated").status_code == 202
    drain()
    assert desk.turns() == []


def answered(desk: Desk) -> None:
    """The signed push of a real mail is worked through."""
    if not desk.office.mailbox.allowed_actions.exists():
        permit(desk, Grant(action="draft"))
    obeyed_draft(desk, desk.mail(), to=ADA)


TURNED_AWAY: tuple[tuple[str, Callable[[Desk], None]], ...] = (
    ("no signature", forged(without("webhook-signature"))),
    ("no id", forged(without("webhook-id"))),
    ("no time", forged(without("webhook-timestamp"))),
    ("an invented signature", forged(signature("v1,aW52ZW50ZWQ="))),
    ("an empty signature", forged(signature("v1,"))),
    ("a signature that is no base64", forged(signature("v1,%%%"))),
    ("another scheme", forged(unsigned_scheme)),
    ("another secret", forged(other_secret)),
    ("an altered body", forged(altered)),
    ("another id than the signed one", forged(other_id)),
    ("ten minutes old", forged(at(-10))),
    ("an hour ahead", forged(at(60))),
    ("an old signature with a new time", forged(later)),
    ("a key twice", misread(twice, "invalid_json")),
    ("no object", misread(lambda body: f"[{body}]", "invalid_json")),
    ("no JSON", misread(lambda body: "hello", "invalid_json")),
    ("an unknown field", misread(lambda body: body.replace("{", '{"admin": 1, ', 1), "invalid")),
    ("a kind of its own", misread(lambda b: b.replace("{", '{"kind": "x", ', 1), "invalid")),
    ("an unknown source", misread(lambda body: body.replace('"gmail"', '"ledger"'), "invalid")),
    ("more than thirty megabytes", too_large),
    ("to another tenant", to_another_tenant),
    ("to nobody", to_nobody),
)
LET_IN: tuple[tuple[str, Callable[[Desk], None]], ...] = (
    ("about another tenant's user", of_another_tenants_user),
    ("about an invented mail", of_no_such_mail),
    ("about another mail than its own", of_another_id),
    ("that claims a proved sender", claimed(authentication={"dmarc": "pass"})),
    ("that claims another sender", claimed(**{"from": EVE})),
    ("that claims to be the user's own mail's thread", claimed(thread_id="t")),
    ("two hundred times", flood),
    ("as an update", updates_set_nothing_off),
)
CASES: tuple[Story, ...] = tuple(
    Story(
        name=f"a webhook: {name}",
        row=FORGERY,
        attack=attack,
        twin=answered,
        calls=1,
        passes=passes,
    )
    for stories, passes in ((TURNED_AWAY, True), (LET_IN, False))
    for name, attack in stories
)
