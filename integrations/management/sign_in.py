"""Commands that connect an account whose user signs in at its provider's own page, tried before
anything is stored."""

import secrets
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from django.core.management.base import BaseCommand, CommandParser

from integrations.accounts import connecting, consent
from integrations.accounts.connecting import Wish
from integrations.accounts.consent import Finished
from integrations.contracts import Source
from integrations.management.sentences import organisation_of, sentences
from integrations.ports.registry import BY_SOURCE
from integrations.providers.connectable import Found

THANKS = b"Signed in. Go back to the command; this page can be closed."


class SignInCommand(BaseCommand):
    """`sources`: what can be connected, as the command calls it; the first is the usual."""

    sources: ClassVar[Mapping[str, Source]]

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--user", required=True, help="Whose account: the user's id.")
        parser.add_argument(
            "--what",
            choices=[*self.sources],
            default=next(iter(self.sources)),
            help="Each is a consent of its own.",
        )
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")
        parser.add_argument(
            "--display-name", default="", help="As it stands beside the address in mail."
        )
        parser.add_argument("--time-zone", default="UTC")
        parser.add_argument(
            "--port", type=int, default=0, help="Of this machine, for the way back; left out: any."
        )
        parser.add_argument(
            "--device-code",
            action="store_true",
            help="Sign in with a code, on another device: this machine needs no browser.",
        )
        parser.add_argument("--try-only", action="store_true", help="Store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation = organisation_of(options["organisation"])
        wish = Wish(
            organisation_id=organisation.id,
            user_id=options["user"],
            address=options["address"],
            user_name=options["address"],
            display_name=options["display_name"],
            time_zone=options["time_zone"],
            source=self.sources[options["what"]],
        )
        sign_in = self.with_code if options["device_code"] else self.in_browser
        with sentences():
            finished = sign_in(wish, options)
            self.say(finished.found)
            if options["try_only"]:
                return
            connecting.accept(finished.offer)
        if not BY_SOURCE[wish.source].is_writable:
            self.stdout.write("\nConnected. It is read alone.")
            return
        self.stdout.write(
            "\nConnected. The last 30 days are read in within a minute, while `make run` runs.\n"
            "Nothing is allowed yet. Next:\n"
            f"  manage.py policy --user {options['user']} --source {wish.source} import "
            "--preset new-account --apply\n      lets the agent do what is easily undone; it asks "
            "before anything reaches somebody else"
        )

    def in_browser(self, wish: Wish, options: Mapping[str, Any]) -> Finished:
        by = f"{type(self).__module__} {secrets.token_hex(8)}"
        with WayBack(options["port"]) as back:
            started = consent.begin(wish, by=by, redirect=back.url)
            self.stdout.write(f"Open this in a browser on this machine:\n\n{started.page}\n")
            return consent.finish(started.ticket, back.wait(), by=by)

    def with_code(self, wish: Wish, options: Mapping[str, Any]) -> Finished:
        code = consent.begin_with_code(wish)
        minutes = max(1, round(code.seconds / 60))
        self.stdout.write(
            f"On any device, open {code.page} and type in {code.user_code} within {minutes} "
            f"minutes. Sign in there as {wish.address}, and type in no code but your own."
        )
        self.stdout.flush()
        return consent.finish_with_code(wish, code)

    def say(self, found: Found) -> None:
        there = f"{found.mails} mails in the inbox"
        if found.mails is None:
            there = ", ".join(found.calendars or found.folders or ()) or "nothing"
        self.stdout.write(f"Signed in at {found.host}: {there}.")
        for one in found.abilities:
            self.stdout.write(f"  {one.grade or '-'}  {one.what}. {one.why}")


class WayBack:
    """Where the browser comes back to: a port of this machine alone (RFC 8252, 7.3), for one
    answer."""

    def __init__(self, port: int) -> None:
        self._found: dict[str, str] = {}
        found = self._found

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the library's own name
                parts = urlsplit(self.path)
                is_answer = parts.path == "/" and bool(parts.query)
                if is_answer:
                    found.update(parse_qsl(parts.query, keep_blank_values=True))
                self.send_response(200 if is_answer else 404)
                self.send_header("Content-Type", "text/plain")
                self.end_headers()
                self.wfile.write(THANKS if is_answer else b"")

            def log_message(self, format: str, *args: Any) -> None:
                pass  # the code is in the address

        self._server = HTTPServer(("127.0.0.1", port), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def wait(self) -> Mapping[str, str]:
        """The parameters that the browser came back with."""
        while not self._found:
            self._server.handle_request()
        return self._found

    def __enter__(self) -> "WayBack":
        return self

    def __exit__(self, *error: object) -> None:
        self._server.server_close()
