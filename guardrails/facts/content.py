"""What an outgoing text contains, without the text: enough to decide on, and to keep. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guardrails.facts import links, sensitive
from guardrails.facts.sensitive import Sensitive

MARKUP = re.compile(r"</?[a-z][a-z0-9-]*(?=[\s/>]|$)|<!(?:--|doctype)|<\?xml|!\s*\[", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Content:
    """`hosts` are those that its links and images lead to, `links.UNKNOWN` among them where
    that is not plain; `plain` says that it has neither HTML nor images; `attachments` are
    names."""

    hosts: tuple[str, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    chars: int = 0
    plain: bool = True
    attachments: tuple[str, ...] = ()

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
