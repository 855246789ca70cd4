"""What an outgoing text contains, without the text: enough to decide on, and to keep. Pure."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from guardrails.facts import links, sensitive
from guardrails.facts.sensitive import Sensitive

MARKUP = re.compile(r"</?[a-z][a-z0-9-]*(?=[\s/>]|$)|<!(?:--|doctype)|<\?xml|!\s*\[", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Content:
    """`hosts` are those that its links and images lead to, `links.UNKNOWN` among them where
    that is not plain; `plain` says that it has neither HTML nor images; `attachments` are
    names. Of two together there is no digest."""

    hosts: tuple[str, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    chars: int = 0
    plain: bool = True
    attachments: tuple[str, ...] = ()
    digest: str = ""  # of the text itself, where it is one object's

    def __add__(self, other: "Content") -> "Content":
        return Content(
            hosts=tuple(sorted({*self.hosts, *other.hosts})),
            sensitive=tuple(sorted({*self.sensitive, *other.sensitive})),
            chars=self.chars + other.chars,
            plain=self.plain and other.plain,
            attachments=self.attachments + other.attachments,
        )


def of(
    texts: Iterable[str], *, html: str | None = None, attachments: Sequence[str] = ()
) -> Content:
    """What texts that go out together contain."""
    every = [*texts, html or ""]
    # Joined too: what is split over two fields is read as one by the receiver.
    whole = "\n".join(every)
    return Content(
        hosts=tuple(sorted(links.hosts(whole))),
        sensitive=tuple(sorted(sensitive.found(whole))),
        chars=sum(map(len, every)),
        plain=not html and not MARKUP.search(links.unveiled(whole)),
        attachments=tuple(attachments),
    )


def of_object(
    texts: Sequence[str], *, html: str | None = None, attachments: Sequence[str] = ()
) -> Content:
    """What one object contains, with the digest of it."""
    found = of(texts, html=html, attachments=attachments)
    return replace(found, digest=digest_of([*texts, html or "", *attachments]))


def digest_of(texts: Iterable[str]) -> str:
    """The same for the same texts in the same order, and for no others."""
    parts = (f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
