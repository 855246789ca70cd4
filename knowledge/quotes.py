"""What the sender of a mail wrote himself: quoted replies and signatures left out. Pure.

The quoted mail is an item of its own; embedding it again with every reply would make each
mail of a thread look alike.
"""

import re

# "On Tue, 3 Mar 2026 at 10:01, Ann <ann@example.com> wrote:" and its kin in other languages.
# A date is asked for: "On Monday I wrote:" is a sentence of the sender's own.
_ATTRIBUTION = re.compile(
    r"^(?=.*\d)(?:On|Am|Den|Le|El|Op|Il)\b.{0,300}?"
    r"\b(?:wrote|schrieb|skrev|a écrit|escribió|schreef|ha scritto)\b.{0,100}:[ \t]*$",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(r"(?i)^-{3,} ?(?:Original Message|Ursprüngliche Nachricht) ?-{3,}$")
_FORWARDED = re.compile(
    r"^-{3,} ?Forwarded message ?-{3,}$|^Begin forwarded message:$", re.IGNORECASE
)
_SENT_FROM = re.compile(r"(?i)^(?:Sent from my |Get Outlook for |Skickat från min |Von meinem )")
_SIGNATURE_LINES = 15


def own_words(body: str) -> str:
    """`body` without quoted replies and signature; all of `body` if nothing else is in it.

    A forwarded mail stays: it is what the sender wanted to show. Lines that begin with `>`
    go; so does everything after the line that introduces a quoted mail, after the signature
    mark `-- ` and after a phone's signature.
    """
    kept: list[str] = []
    lines = body.splitlines()
    for index, line in enumerate(lines):
        plain = line.strip()
        if _FORWARDED.match(plain):
            kept += lines[index:]
            break
        if _ORIGINAL.match(plain) or _introduces_quote(lines, index):
            break
        if plain == "--" and len(lines) - index <= _SIGNATURE_LINES:
            break
        if _SENT_FROM.match(plain) and len(lines) - index <= _SIGNATURE_LINES:
            break
        if not plain.startswith(">"):
            kept.append(line)
    own = "\n".join(kept).strip()
    return own or body.strip()


def _introduces_quote(lines: list[str], index: int) -> bool:
    """Whether a reply's attribution starts here: on one line, or wrapped onto the next."""
    first = lines[index].strip()
    following = next((line.strip() for line in lines[index + 1 : index + 4] if line.strip()), "")
    if _ATTRIBUTION.match(first):
        return True
    if _ATTRIBUTION.match(f"{first} {following}") and len(first) <= 300:
        rest = lines[index + 2 :]
        return any(line.lstrip().startswith(">") for line in rest[:5])
    return False
