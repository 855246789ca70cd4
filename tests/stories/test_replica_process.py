"""A web process as a deployment runs it, with its pools, beside a streaming replica: what it
answers over HTTP. Where each read goes is tried in test_replica.py."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from django.conf import settings

from config.local import ports
from integrations.models import Delivery, Organisation, ServiceToken
from integrations.web.stale import HEADER, PIN
from tests.clients import log_in_superuser
from tests.knowledge.office import account
from tests.office import until
from tests.program import program
from tests.replica_world import World, leading_to, running_pair

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
HELD = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'remit web'"


@dataclass(frozen=True)
class Site:
    """A web process and who is logged in there."""

    world: World
    organisation: Organisation
    browser: httpx.Client
    token: str
    log: Path

    def receive(self) -> str:
        """The id of a delivery that another process wrote."""
        delivery = Delivery.objects.create(
            organisation=self.organisation,
            webhook_id=str(uuid4()),
            kind="created",
            source="gmail",
            source_id="mail-1",
            body={},
        )
        return str(delivery.pk)

    def read(self) -> httpx.Response:
        answer = self.browser.get("/admin/integrations/delivery/")
        assert answer.status_code == 200, answer.text
        return answer

    def search(self) -> httpx.Response:
        return self.browser.post(
            "/api/v1/search",
            json={"user_id": "maya", "query": ""},
            headers={"Authorization": f"Bearer {self.token}"},
        )

    def rename(self, name: str) -> httpx.Response:
        """Send a form, as a browser does."""
        page = f"/admin/integrations/organisation/{self.organisation.pk}/change/"
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.browser.get(page).text)
        assert token
        return self.browser.post(page, data={"csrfmiddlewaretoken": token[1], "name": name})

    def held(self, address: str) -> int:
        """Connections that it has there."""
        return int(self.world.execute(address, HELD)[0])


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    log = tmp_path / "web.log"
    with ExitStack() as stack:
        world = stack.enter_context(running_pair(tmp_path))
        stack.enter_context(leading_to(world.primary))
        organisation = Organisation.objects.get(pk=account().organisation_id)
        _, token = ServiceToken.issue(organisation=organisation, name="t", scopes=["chat"])
        cookies = log_in_superuser(f"olga-{uuid4()}").cookies
        origin = f"http://127.0.0.1:{(port := ports.pick())}"
        variables = {
            "REMIT_PROCESS": "web",
            "DATABASE_REPLICA_URL": world.replica,
            "DATABASE_REPLICA_LAG": "600",
        }
        command = ("-m", "config.serve", "--port", str(port))
        stack.enter_context(program(*command, log=log, **variables))
        browser = stack.enter_context(
            httpx.Client(
                base_url=origin,
                cookies={settings.SESSION_COOKIE_NAME: cookies[settings.SESSION_COOKIE_NAME].value},
                headers={"Referer": origin},
                timeout=60,
            )
        )

        def is_up() -> bool:
            try:
                return browser.get("/health").is_success
            except httpx.TransportError:
                return False

        until(is_up, seconds=120)
        yield Site(world, organisation, browser, token, log)


def passed_over(site: Site) -> bool:
    return "replica.passed_over" in site.log.read_text()


def test_a_web_process_reads_from_the_replica_and_does_without_it(site: Site) -> None:
    first = site.receive()
    site.world.catch_up()
    site.world.pause()
    second = site.receive()

    old, found = site.read(), site.search()
    assert (first in old.text, second in old.text) == (True, False)
    assert HEADER in old.headers
    assert (found.status_code, HEADER in found.headers) == (200, True)
    assert site.held(site.world.replica) >= 1

    sent = site.rename("Renamed")
    assert sent.status_code == 302, sent.text
    assert sent.cookies[PIN] == "1"
    fresh = site.read()
    assert (second in fresh.text, HEADER in fresh.headers) == (True, False)

    site.browser.cookies.delete(PIN)
    assert second not in site.read().text
    site.world.stop()
    alone = site.read()
    assert (second in alone.text, HEADER in alone.headers) == (True, False)
    assert passed_over(site)

    site.world.start()
    until(lambda: HEADER in site.read().headers)
    assert site.held(site.world.replica) >= 1
