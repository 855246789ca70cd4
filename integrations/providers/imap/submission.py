"""Handing a mail to a submission server, so that it is known where a failure was.

The receivers get a mail when the server learns that it is whole, and nothing before that. So
whatever goes wrong before this last word leaves means that nothing was sent; only from there until
its answer can nobody tell. A server with CHUNKING (RFC 3030) has said that it holds all of the text
before the last word, `BDAT 0 LAST`, leaves. One without says nothing between `DATA` and the answer
to the dot at the end: there the text, which may be on its way still, is in doubt with its dot.
"""

import re
import select
import smtplib
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from integrations.contracts.servers import Server
from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.providers.imap.clients import Smtp, SmtpTls
from integrations.providers.mailboxes.progress import NotSent

SECONDS = 60.0
SAID_CHARS = 200
TAKEN = (250, 251)
_LEADING_DOT = re.compile(rb"(?m)^\.")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Accepted(NamedTuple):
    """The server has the whole mail: what it said, and whether a blind copy goes out with it."""

    said: str
    is_copied: bool


def submit(
    server: Server,
    sign_in: SignIn,
    *,
    sender: str,
    receivers: Sequence[str],
    data: bytes,
    copy_to: str = "",
    before_last_word: Callable[[], None],
) -> Accepted:
    """Hands the mail over: to all receivers or to none. Who is to get a blind copy (`copy_to`) and
    is refused gets none.

    `before_last_word` is called when all has left but the word that the mail is whole: keep then
    that nobody can tell any more, or raise, and nothing is sent. Raises NotSent, NotPermitted,
    Rejected or RateLimited where nothing was sent, and Unavailable where nobody can tell.
    """
    smtp = _reached(server, sign_in)
    try:
        try:
            _offer(smtp, sender, receivers)
            is_copied = bool(copy_to) and smtp.rcpt(copy_to)[0] in TAKEN
            last_word = _hand_over(smtp, data)
        except (smtplib.SMTPServerDisconnected, OSError) as error:
            raise NotSent("the server went away before it had the mail") from error
        before_last_word()
        if _has_spoken(smtp):
            raise NotSent("the server went away before it had the mail")
        try:
            smtp.send(last_word)
            code, said = smtp.getreply()
        except (smtplib.SMTPException, OSError) as error:
            raise Unavailable("no answer to the whole mail") from error
        with suppress(smtplib.SMTPException, OSError):
            smtp.putcmd("QUIT")
    finally:
        smtp.close()  # in the middle of a mail a word of farewell would be a line of it
    if 200 <= code < 300:
        return Accepted(_text(said), is_copied)
    if not 400 <= code < 600:
        raise Unavailable("no answer that says what became of the whole mail")
    raise _refusal(code, said)


def try_sign_in(server: Server, sign_in: SignIn) -> None:
    """Signs in and sends nothing. Raises what `submit` raises before it offers a mail."""
    smtp = _reached(server, sign_in)
    with suppress(smtplib.SMTPException, OSError):
        smtp.quit()
    smtp.close()


def _reached(server: Server, sign_in: SignIn) -> smtplib.SMTP:
    context = ssl.create_default_context()
    smtp: smtplib.SMTP | None = None
    try:
        if server.security == "tls":
            smtp = SmtpTls(server.host, server.port, timeout=SECONDS, context=context)
        else:
            smtp = Smtp(server.host, server.port, timeout=SECONDS)
            smtp.starttls(context=context)
        smtp.login(sign_in.user_name, sign_in.secret)
    except smtplib.SMTPAuthenticationError as error:
        _close(smtp)
        if 400 <= error.smtp_code < 500:
            raise RateLimited("the server takes no sign-in now") from error
        raise NotPermitted("the server refused the sign-in") from error
    except ssl.SSLCertVerificationError as error:
        _close(smtp)
        raise NotPermitted(f"the server's certificate: {error.verify_message}") from error
    except smtplib.SMTPNotSupportedError as error:
        _close(smtp)
        raise NotPermitted("the server offers no encrypted sign-in") from error
    except (smtplib.SMTPException, OSError) as error:
        _close(smtp)
        raise NotSent("the server cannot be reached") from error
    return smtp


def _close(smtp: smtplib.SMTP | None) -> None:
    if smtp is not None:
        smtp.close()


def _offer(smtp: smtplib.SMTP, sender: str, receivers: Sequence[str]) -> None:
    """Sender and every receiver. One refused receiver refuses the mail."""
    smtp.ehlo_or_helo_if_needed()
    options = ["BODY=8BITMIME"] if smtp.has_extn("8bitmime") else []
    _expect(*smtp.mail(sender, options), 250)
    for receiver in receivers:
        code, said = smtp.rcpt(receiver)
        if code not in TAKEN:
            smtp.rset()
            _expect(code, said, 250)


def _hand_over(smtp: smtplib.SMTP, data: bytes) -> bytes:
    """All of the text; the word that it is whole, which has not been said yet."""
    lines = _LINE_END.sub(b"\r\n", data)
    if not lines.endswith(b"\r\n"):
        lines += b"\r\n"
    if smtp.has_extn("chunking"):
        smtp.send(b"BDAT %d\r\n%b" % (len(lines), lines))
        _expect(*smtp.getreply(), 250)
        return b"BDAT 0 LAST\r\n"
    _expect(*smtp.docmd("DATA"), 354)
    smtp.send(_LEADING_DOT.sub(b"..", lines))  # no line is read as the end
    return b".\r\n"


def _has_spoken(smtp: smtplib.SMTP) -> bool:
    """Whether the server ended the conversation, or says so, where it has nothing to say."""
    if smtp.sock is None:
        return True
    waiting = select.poll()
    waiting.register(smtp.sock, select.POLLIN)
    return bool(waiting.poll(0))


def _expect(code: int, said: bytes, wanted: int) -> None:
    if code == -1:
        raise NotSent("the server went away before it had the mail")
    if code != wanted:
        raise _refusal(code, said)


def _refusal(code: int, said: bytes) -> ProviderError:
    text = f"{code} {_text(said)}"[:SAID_CHARS]
    if 400 <= code < 500:
        return RateLimited("the server says: later", said=text)
    return Rejected("the server refused the mail", said=text)


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")
