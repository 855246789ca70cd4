"""Who else reads a folder, where its server tells (RFC 3744). Pure.

Only what is known for certain counts as known: an entry that cannot be read makes it unknown.
"""

from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from integrations.providers.dav.multistatus import D, Response

ACL, OWNER, SELF = f"{D}acl", f"{D}owner", f"{D}current-user-principal"
WANTED = (ACL, OWNER, SELF)
READS = frozenset({f"{D}read", f"{D}all"})
EVERYBODY = frozenset({f"{D}all", f"{D}authenticated", f"{D}unauthenticated"})
OTHERS = "everybody"


def readers(folder: Response) -> tuple[str, ...] | None:
    """Those who are let in beside the user: a principal as the server calls it, or `everybody`.
    None where it does not tell."""
    acl = folder.properties.get(ACL)
    own = {_path(one) for one in folder.hrefs(SELF)}
    if acl is None or not own:
        return None
    found = set()
    for entry in acl.findall(f"{D}ace"):
        granted = entry.find(f"{D}grant")
        if granted is None or not READS & {one.tag for one in granted.iter()}:
            continue
        who = _principal(entry, folder)
        if who is None:
            return None
        if who not in own:
            found.add(who)
    return tuple(sorted(found))


def _principal(entry: Element, folder: Response) -> str | None:
    named = entry.find(f"{D}principal")
    if named is None or len(named) != 1:
        return None  # such as everybody but one (DAV:invert)
    one = named[0]
    if one.tag in EVERYBODY:
        return OTHERS
    if one.tag == f"{D}href":
        return _path(one.text or "") or None
    if one.tag == f"{D}property" and one.find(OWNER) is not None:
        owners = folder.hrefs(OWNER)
        return _path(owners[0]) if owners else None
    return None


def _path(href: str) -> str:
    """One spelling of a principal; empty for what is none."""
    try:
        return urlsplit(href.strip()).path.rstrip("/")
    except ValueError:
        return ""
