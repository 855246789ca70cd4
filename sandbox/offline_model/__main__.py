"""`python -m sandbox.offline_model`: serves on 127.0.0.1, port MODEL_PORT."""

import os
import sys

import uvicorn

from sandbox.offline_model.app import build_app


def main() -> int:
    port = os.environ.get("MODEL_PORT", "8020")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        print(f"MODEL_PORT must be a port from 1 to 65535, not {port!r}.", file=sys.stderr)
        return 2
    uvicorn.run(
        build_app(),
        host="127.0.0.1",
        port=int(port),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
