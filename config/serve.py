"""Runs the web process, with limits on connections and on the time that requests may take.

    python -m config.serve --host 127.0.0.1 --port 8000

uvicorn's own command knows no such limits, so run this one behind a proxy, too.
"""

import argparse
import gc
import resource
import socket

import uvicorn
from django.core.exceptions import ImproperlyConfigured

STOP_SECONDS = 3
# Beside connections a process has files open: the database's, models', its own modules.
OTHER_FILES = 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="config.serve", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--fd", type=int, help="a socket that listens already")
    chosen = parser.parse_args()
    try:
        from config import asgi  # noqa: PLC0415  # reads the settings
    except ImproperlyConfigured as error:
        raise SystemExit(f"Remit does not start. {error}") from None
    allow_files(asgi.LIMITS.most + OTHER_FILES)
    # What was loaded stays: to look through it again and again is an eighth of a webhook's CPU.
    gc.collect()
    gc.freeze()
    config = uvicorn.Config(
        asgi.application,
        http=asgi.PROTOCOL,
        ws="none",
        host=chosen.host,
        port=chosen.port,
        access_log=False,
        lifespan="on",  # “auto” would serve where what is asked at the start breaks
        log_config=None,  # Django's: what is logged goes through config.logs
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        forwarded_allow_ips=list(asgi.LIMITS.proxies),
    )
    sockets = None if chosen.fd is None else [socket.socket(fileno=chosen.fd)]
    uvicorn.Server(config).run(sockets=sockets)


def allow_files(wanted: int) -> None:
    """As many open files as are wanted, or as the system lets this process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


if __name__ == "__main__":
    main()
