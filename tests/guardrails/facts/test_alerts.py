import gzip
import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.facts import alert_words, alerts
from guardrails.facts.senders import Sender
from integrations.contracts import Authentication
from integrations.mail.mail import parse
from tests.corpus import MAIL, needs_corpus
from tests.guardrails.values import NOW, email

WORDS = "the mail is a security or delivery alert"
ONE_USE = "the mail holds a code or a link for one use"
DELIVERY = "the mail reports a failed delivery"
LINK = "https://app.example/x/{}?t=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5"


def described(**fields: Any) -> str:
    return alerts.describe(email(**fields))


@pytest.mark.parametrize(
    "subject",
    [
        "New sign-in to your account",
        "Neue Anmeldung bei Ihrem Konto",
        "Nouvelle connexion à votre compte",
        "Nuevo inicio de sesión en tu cuenta",
        "Nuovo accesso al tuo account",
        "Nieuwe aanmelding bij je account",
        "Novo início de sessão na sua conta",
        "Nowe logowanie na Twoje konto",
        "Ny inloggning på ditt konto",
        "Nové přihlášení k vašemu účtu",
        "新しいログインがありました",
        "您的帐号有新登录",
        "새로운 로그인이 감지되었습니다",
        "Новый вход в аккаунт",
        "Ihr Passwort wurde geändert",
        "Votre mot de passe a été modifié",
        "Tu contraseña ha cambiado",
        "La tua password è stata modificata",
        "Je wachtwoord is gewijzigd",
        "A sua palavra-passe foi alterada",
        "Twoje hasło zostało zmienione",
        "Ditt lösenord har ändrats",
        "Vaše heslo bylo změněno",
        "パスワードが変更されました",
        "您的密码已更改",
        "Fwd: Security alert",
        "Secu\u200brity al\u00adert",
        "\uff33ecurity  ALERT",
        "Nouvelle\u00a0connexion",
        "Passwort zuru\u0308ckgesetzt",
    ],
)
def test_what_only_an_alert_says_is_known_in_many_languages(subject: str) -> None:
    assert described(subject=subject) == WORDS


@pytest.mark.parametrize(
    "subject",
    [
        "Lunch on Friday?",
        "Anmeldung zum Sommerfest",
        "Connexion des deux projets",
        "Besprechung am Montag",
        "Rapport trimestriel",
        "Acceso al edificio el lunes",
        "昨日の会議について",
        "关于下周的会议",
        "Re: New password policy",
        "AW: Passwort-Regeln",
        "RE[2]: Login page",
        "Key-signing party",
        "",
    ],
)
def test_what_people_write_to_each_other_is_none(subject: str) -> None:
    assert described(subject=subject) == ""


@pytest.mark.parametrize(
    ("sender", "subject"),
    [
        ("no-reply@accounts.google.com", "Some app was granted access to your Google Account"),
        ("x@AccountProtection.Microsoft.com", "Aktivität bei Ihrem Konto: neue App verbunden"),
        ("noreply@github.com", "[GitHub] A third-party OAuth application has been added"),
        ("service@paypal.de", "Sie haben eine Zahlung gesendet"),
        ("service@intl.paypal.com", "Has enviado un pago"),
        ("support@stripe.com", "Votre virement est en route"),
        ("no-reply@coinbase.com", "You sent 0.5 BTC"),
        ("no-reply@revolut.com", "Przelew wychodzący"),
        ("info@rakuten-bank.co.jp", "振込が完了しました"),
        ("noreply@alipay.com", "转账通知"),
        ("registrar@gandi.net", "Your domain client.com will expire"),
        ("hello@wise.com", "Je betaling is verstuurd"),
        ("noreply@swedbank.se", "Betalning genomförd"),
        ("noreply@csas.cz", "Odchozí platba"),
        ("noreply@bradesco.com.br", "Transferência realizada"),
        ("noreply@intesasanpaolo.com", "Bonifico eseguito"),
    ],
)
def test_known_senders_need_say_less(sender: str, subject: str) -> None:
    passed = Authentication(dmarc="pass")

    assert " is a notice of " in described(**{"from": sender}, subject=subject)
    assert described(subject=subject, authentication=passed) in ("", WORDS)


@pytest.mark.parametrize(
    ("sender", "subject"),
    [
        ("marketing@paypal.com", "Five ideas for the summer"),
        ("deals@booking.com", "Maya, Lisbon is waiting"),
        ("news@github.com", "The Octoverse is here"),
        ("notifications@github.com", "[portal] Fix access token parsing (#12)"),
        ("jobs@linkedin.com", "Ten new jobs for you"),
        ("deals@amazon.com", "Try our new Apparel store"),
        ("newsletter@spotify.com", "Your summer in music"),
    ],
)
def test_their_newsletters_are_none(sender: str, subject: str) -> None:
    assert described(**{"from": sender}, subject=subject) == ""


@pytest.mark.parametrize(
    ("dmarc", "told"),
    [
        ("pass", "the mail is a notice of paypal.com about an account, a sign-in or money"),
        ("fail", "the mail is a notice in the name of paypal.com, and nobody proved its sender"),
        ("none", "the mail is a notice in the name of paypal.com, and nobody proved its sender"),
    ],
)
def test_an_unproved_sender_is_no_less_an_alert(dmarc: str, told: str) -> None:
    fields = {"from": "service@paypal.com", "subject": "You sent a payment"}

    assert described(**fields, authentication=Authentication(dmarc=dmarc)) == told


def test_an_operator_adds_senders() -> None:
    own = {"desk.example": Sender(name="desk.example", must_pass=False, kinds=("payment",))}
    mail = email(**{"from": "robot@desk.example", "subject": "Transfer booked"})

    assert alerts.describe(mail) == ""
    assert alerts.describe(mail, own).startswith("the mail is a notice of desk.example ")


@pytest.mark.parametrize(
    "body",
    [
        "Your verification code is 481516.",
        "481 516 is your one-time code",
        "Ihr Bestätigungscode lautet: 481516",
        "Votre code de vérification : 4815",
        "Tu código de verificación es 481516",
        "Il tuo codice di sicurezza: 481516",
        "Je verificatiecode is 481516",
        "Seu código de segurança: 481516",
        "Twój kod weryfikacyjny to 481516",
        "Din verifieringskod är 481516",
        "Váš ověřovací kód je 481516",
        "認証コード：481516",  # noqa: RUF001
        "您的验证码是481516，请勿泄露",  # noqa: RUF001
        "인증번호 481516",
        "Sign in here: " + LINK.format("magic-link"),
        "Klicken Sie: " + LINK.format("reset"),
        "Cliquez : " + LINK.format("verify"),
        "https://app.example/login/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5",
    ],
)
def test_a_code_or_link_for_one_use_is_known_by_how_it_is_built(body: str) -> None:
    assert described(subject="Hello", body_text=body) == ONE_USE
    html = f"<div><p>{body}</p></div>"
    assert described(subject="Hello", body_text="", body_html=html) == ONE_USE


@pytest.mark.parametrize(
    "body",
    [
        "The area code is 030 and the zip code 10115.",
        "Use code SUMMER20 for 20 % off.",
        "We met in 2026.",
        "Our verification of the code base is done.",
        "https://docs.example/login",
        "https://docs.example/reset-your-expectations",
        "https://shop.example/product/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5",
    ],
)
def test_other_numbers_and_links_are_none(body: str) -> None:
    assert described(subject="Hello", body_text=body) == ""


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"report_type": "delivery-status", "subject": "x"}, DELIVERY),
        ({"report_type": "disposition-notification", "subject": "x"}, ""),
        ({"auto_submitted": "auto-replied", "subject": "Undelivered: Lunch"}, DELIVERY),
        ({"auto_submitted": "auto-replied", "subject": "Nicht zugestellt: Essen"}, DELIVERY),
        ({"auto_submitted": "auto-generated", "subject": "Échec de la remise"}, DELIVERY),
        ({"auto_submitted": "auto-replied", "subject": "Out of office"}, ""),
        ({"auto_submitted": "no", "subject": "Delivery on Friday"}, ""),
        ({"subject": "Delivery on Friday"}, ""),
        ({"from": "MAILER-DAEMON@mail.example", "subject": "x"}, WORDS),
    ],
)
def test_a_failed_delivery_is_known_by_its_headers(fields: dict[str, Any], told: str) -> None:
    assert described(**fields) == told


@given(st.text(max_size=200))
def test_what_is_compared_is_stable(text: str) -> None:
    assert alert_words.folded(alert_words.folded(text)) == alert_words.folded(text)
    described(subject=text, body_text=text)


@needs_corpus
def test_real_mail_of_people_lists_and_newsletters_is_hardly_ever_an_alert() -> None:
    with gzip.open(MAIL, "rt", encoding="utf-8") as lines:
        raws = [json.loads(line)["raw"] for line in islice(lines, 0, None, 8)]

    mails = [raw.partition("\n")[2] if raw.startswith("From ") else raw for raw in raws]
    parsed = [parse(mail.encode("latin-1"), fallback_date=NOW).email for mail in mails]
    found = [mail.subject for mail in parsed if alerts.describe(mail)]

    assert len(raws) > 300
    assert len(found) <= len(raws) // 100
