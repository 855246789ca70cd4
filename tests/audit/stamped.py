"""Time stamps in tests: an anchor of the ledger as it is, stamped by an authority."""

import secrets
from uuid import UUID

from audit.bundle.stamps import read_time_stamp
from audit.models import Anchor
from audit.seals import anchors
from tests.audit.bundle import files as bundles
from tests.tsa import Authority

# TimeStampReq of RFC 3161, with a nonce of 8 bytes.
QUERY = "3043020101 3031300d06096086480165030402010500 0420{} 0208{} 0101ff"


def anchor() -> Anchor:
    made = anchors.make_anchor()
    assert made is not None
    return made


def time_stamp(made: Anchor, authority: Authority) -> None:
    nonce = f"01{secrets.token_hex(7)}"
    response = authority.reply(bytes.fromhex(QUERY.format(bytes(made.root).hex(), nonce)))
    at = read_time_stamp(response)[1]
    anchors.store_token(made.id, authority=authority.url, response=response, stamped_at=at)


def bundle(tenant_id: UUID, authority: Authority, *, times: int = 2) -> bytes:
    """Some actions, sealed and stamped several times, and a few that are not stamped yet."""
    for _ in range(times):
        bundles.fill(tenant_id, actions=2)
        time_stamp(anchor(), authority)
    bundles.fill(tenant_id, actions=1)
    return bundles.make(tenant_id)
