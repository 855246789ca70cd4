"""Starts the sandbox data service on 127.0.0.1; the environment says how (Settings)."""

import contextlib
import os
import sys

import uvicorn

from sandbox.data_service.app import build_app
from sandbox.data_service.listening import listening_on
from sandbox.data_service.settings import SettingsError, settings_from
from sandbox.data_service.store import Store


def main() -> None:
    try:
        settings, port = settings_from(os.environ)
        listener = listening_on(port)
        # Opened once before serving, so that a state that is not usable is a sentence here.
        Store(settings.state, records_webhooks=False).close()
    except SettingsError as error:
        sys.exit(str(error))
    print(
        f"Sandbox data service on http://127.0.0.1:{port} (a demo office, nothing real).",
        flush=True,
    )
    config = uvicorn.Config(
        build_app(settings),
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
