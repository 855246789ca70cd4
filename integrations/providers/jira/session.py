"""Requests to Jira in one user's name."""

import base64

from integrations.contracts import AccountRef
from integrations.credentials.credentials import SignIn
from integrations.exceptions import RateLimited
from integrations.network.http import Answer
from integrations.providers.jira.servers import JiraServer
from integrations.providers.trackers import session
from integrations.providers.trackers.session import Heard, Slot, TrackerSession


class JiraSession(TrackerSession):
    """The cloud takes address and API token, a data center a personal access token alone."""

    def __init__(self, server: JiraServer, sign_in: SignIn, slot: Slot, refused: Heard) -> None:
        headers = {"Accept": "application/json", "Authorization": f"Bearer {sign_in.secret}"}
        if server.is_cloud:
            pair = f"{sign_in.user_name}:{sign_in.secret}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        super().__init__(server.api, headers, limited=limited, slot=slot, refused=refused)
        self.server = server


def session_of(account: AccountRef) -> JiraSession:
    """Raises NotPermitted where the account is not connected, or signed in no more."""

    def make(sign_in: SignIn, slot: Slot, refused: Heard) -> JiraSession:
        return JiraSession(JiraServer.from_json(sign_in.servers), sign_in, slot, refused)

    return session.session_of(account, make)


def limited(answer: Answer) -> RateLimited | None:
    wait = session.wait_of(answer)
    if answer.status == 429 or (answer.status == 503 and wait is not None):
        return RateLimited(str(answer.status), retry_after=wait)
    return None
