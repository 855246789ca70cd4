"""Starts the sandbox data service on 127.0.0.1; the environment says how (Settings)."""

import os
import sys

import uvicorn

from integrations.sandbox.data_service.app import build_app
from integrations.sandbox.data_service.settings import SettingsError, settings_from


def main() -> None:
    try:
        settings, port = settings_from(os.environ)
    except SettingsError as error:
        sys.exit(str(error))
    print(f"Sandbox data service on http://127.0.0.1:{port} (a demo office, nothing real).")
    uvicorn.run(
        build_app(settings),
        host="127.0.0.1",
        port=port,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=2,
    )


if __name__ == "__main__":
    main()
