"""What an action does beyond the account's own eyes, found from arguments and facts. Pure.

egress       reaches other people, whatever the action is called
destructive  cannot be brought back
concealing   hides something that its owner should see

What has none of these is private: seen by nobody else, and undoable.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from guardrails.facts.facts import Facts
from guardrails.facts.text import is_hidden, is_plain, visible

EffectKind = Literal["egress", "destructive", "concealing"]
IN_WORDS: dict[EffectKind, str] = {
    "egress": "Reaches other people",
    "destructive": "Cannot be undone",
    "concealing": "Hides something",
}
IRREVERSIBLE: frozenset[EffectKind] = frozenset({"egress", "destructive"})
# Who tells people about their accounts, in any language: by the part before the @, whole or
# one word of it, and by the domain.
ALERTING = frozenset({"abuse", "alert", "alerts", "mailer-daemon", "postmaster"})
SECURITY = frozenset({"security", "accountsecurity"})
ALERTING_DOMAINS = frozenset({"accounts.google.com", "accountprotection.microsoft.com"})
ALERT = re.compile(
    r"security (?:alert|notice|warning|code)|sign-?in|log-?in|new device|unusual activity"
    r"|suspicious|unauthori[sz]ed|breach|password|passcode|verification code|one-time"
    r"|two-(?:factor|step)|2fa|recovery (?:code|email|phone)|forwarding (?:rule|address)"
    r"|access (?:granted|was given)|delivery status|undeliver(?:able|ed)"
)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect and the facts it follows from, in words."""

    kind: EffectKind
    because: str

    @property
    def sentence(self) -> str:
        return f"{IN_WORDS[self.kind]}: {self.because}."


def is_irreversible(effects: Iterable[Effect]) -> bool:
    """Whether somebody else saw it or something is gone, whatever is put back afterwards."""
    return any(effect.kind in IRREVERSIBLE for effect in effects)


def reaching(people: Collection[str], what_they_do: str) -> tuple[Effect, ...]:
    """Egress to people whom no argument names; nothing when there are none."""
    if not people:
        return ()
    named = visible(", ".join(people))
    return (Effect(kind="egress", because=f"{named} {what_they_do}"),)


def hiding(facts: Facts) -> tuple[Effect, ...]:
    """Concealing, if the mail at hand warns its owner about an account or a failed delivery."""
    if facts.email is None or not is_alert(facts.email.sender, facts.email.subject):
        return ()
    return (Effect(kind="concealing", because="the mail is a security or delivery alert"),)


def is_alert(sender: str, subject: str) -> bool:
    """Whether a mail reads like an alert by its sender or its subject: neither hidden
    characters nor other forms of letters change that."""
    mailbox, _, domain = sender.casefold().rpartition("@")
    words = mailbox.replace("-", ".").replace("_", ".").replace("+", ".").split(".")
    if mailbox in ALERTING or domain in ALERTING_DOMAINS or not SECURITY.isdisjoint(words):
        return True
    plain = subject
    if not is_plain(subject):
        seen = "".join(character for character in subject if not is_hidden(character))
        plain = unicodedata.normalize("NFKC", seen)
    folded = plain.casefold()
    return ALERT.search(" ".join(folded.split())) is not None
