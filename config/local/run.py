"""`make run`: start everything on this machine, watch it, and stop it again.

    python -m config.local.run

DATABASE_URL, DATA_SERVICES and OPENAI_API_KEY or OPENAI_BASE_URL name the real things; what
is not named is started here: the embedded PostgreSQL, the sandbox data service with its
office, the offline model.
"""

import os
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from config.local import embedded, interrupts, ports, secrets as local_secrets, state
from config.local.children import Children, Program, end_leftovers
from config.local.database_watch import DatabaseWatch
from config.local.plan import Plan, RunError, check_ports, in_use, plan

PYTHON = sys.executable
READY_SECONDS = 60.0
BACKLOG = 1024  # connections that wait while all web processes start


def start(plan: Plan, children: Children, secrets: dict[str, str]) -> None:
    """Bring everything up, showing each step. Raises RunError if something does not start."""
    manage = (PYTHON, "manage.py")
    _start_stand_ins(plan, children, secrets)
    if plan.own_database:
        with _step("database"):
            children.secrets["DATABASE_URL"] = embedded.start(plan.folder)
    with _step("tables"):
        _run(children, _remit("migrate", (*manage, "migrate", "--no-input")))
    # The socket is ours: while one web process starts again, the other answers.
    listener = _listen(plan.web_port)
    children.start(_web("web", listener))
    if plan.own_sandbox:
        with _step("demo office"):
            _await(children, "sandbox", lambda: ports.answers(plan.sandbox_port))
            _run(children, _remit("load_demo", (*manage, "load_demo")))
    children.start(_remit("cluster", (*manage, "qcluster")))
    children.start(_remit("turns", (*manage, "run_turns")))
    children.start(_remit("sealer", (*manage, "seal_ledger")))
    if plan.own_model:
        with _step("offline model"):
            _await(children, "model", lambda: ports.answers(plan.model_port))
    with _step("web server"):
        _await(children, "web", lambda: _is_healthy(f"{plan.address}/health"))
    children.start(_web("web-2", listener))
    if plan.own_sandbox:
        say("  first sync:")
        if children.run(_remit("first_sync", (*manage, "first_sync", "--wait")), on_terminal=True):
            say(f"  The first sync did not finish. Why: {children.log('first_sync')}")


def _remit(name: str, command: tuple[str, ...]) -> Program:
    """A program of Remit itself, with the secrets that it needs."""
    # With an arena for each thread, glibc keeps what every thread ever needed for an export.
    environment = {"REMIT_PROCESS": name, "MALLOC_ARENA_MAX": "2"}
    return Program(name, command, environment, needs=local_secrets.NEEDS[name])


def _web(name: str, listener: socket.socket) -> Program:
    """One of the processes that answer at the web port."""
    command = (PYTHON, "-m", "config.serve", "--fd", str(listener.fileno()))
    return replace(_remit("web", command), name=name, listener=listener)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
    except OSError as error:
        raise in_use(port, "REMIT_PORT") from error


def _start_stand_ins(plan: Plan, children: Children, secrets: dict[str, str]) -> None:
    if plan.own_sandbox:
        environment = {
            "SANDBOX_PORT": str(plan.sandbox_port),
            "SANDBOX_STATE": str(plan.folder / "sandbox.sqlite3"),
            "DATA_SERVICE_KEY": local_secrets.of_default(secrets["DATA_SERVICE_KEYS"]),
            "WEBHOOK_URL": f"{plan.address}/webhooks",
            "WEBHOOK_SECRET": local_secrets.of_default(secrets["WEBHOOK_SECRETS"]),
        }
        command = (PYTHON, "-m", "sandbox.data_service")
        children.start(Program("sandbox", command, environment))
    if plan.own_model:
        command = (PYTHON, "-m", "sandbox.offline_model")
        children.start(Program("model", command, {"MODEL_PORT": str(plan.model_port)}))


def welcome(plan: Plan, secrets: dict[str, str]) -> str:
    """Where to look, how to log in, what to try."""
    if not plan.own_sandbox:
        return (
            f"\nRemit runs at {plan.address}\n\n"
            "  DATA_SERVICES names your own data service, so there is no demo office. Make an\n"
            "  operator for the admin with: .venv/bin/python manage.py createsuperuser\n\n"
            "Ctrl-C stops it.\n"
        )
    model = "an offline stand-in that follows rules, not a language model"
    return f"""
Remit runs at {plan.address}

  Log in       {plan.address}/admin/
               as operator, password {secrets["OPERATOR_PASSWORD"]}
  The office   http://127.0.0.1:{plan.sandbox_port}/ (the sandbox that the agent works in)
  The model    {model if plan.own_model else "the one that your environment names"}

Three things to try:
  1. Ask in the console, {plan.address}/console/: Create Jira tasks from John's proposal email
  2. Let a mail arrive there, the poisoned one too, and see what is done and what is refused
  3. Read the ledger in the admin: every action with the reasons of its decision

Ctrl-C stops everything. Logs: {plan.folder / "logs"}
"""


def supervise() -> int:
    """Start, watch and stop. Returns the exit code. Raises RunError or another sentence."""
    chosen = plan()
    record = chosen.folder / "run.json"
    with state.locked(chosen.folder / "run.lock", wait=False) as ours:
        if not ours:
            raise RunError(
                f"Remit runs already with the state folder {chosen.folder}. Stop it with Ctrl-C "
                "where it runs, or set REMIT_STATE_DIR (and other ports) for a second one."
            )
        interrupts.obey()
        try:
            left_database = end_leftovers(record)
            check_ports(chosen)
            secrets = local_secrets.load(chosen.folder / "secrets.env")
            state.close_to_others(chosen.folder)
            children = Children(
                record=record,
                address=chosen.address,
                logs=chosen.folder / "logs",
                environment=_environment(chosen, secrets),
                secrets={**_given_secrets(), **secrets},
                say=say,
            )
            # One that someone else started stays when we go.
            children.keeps_database = chosen.own_database and (
                left_database or not embedded.is_running(chosen.folder)
            )
            children.write_record()
            return _hold(chosen, children, secrets)
        except KeyboardInterrupt:
            return 0


def _hold(chosen: Plan, children: Children, secrets: dict[str, str]) -> int:
    """Run until Ctrl-C or SIGTERM; whatever happens, stop what was started."""
    try:
        say("Starting Remit ...")
        start(chosen, children, secrets)
        say(welcome(chosen, secrets))
        database = DatabaseWatch(chosen.folder, say=say) if chosen.own_database else None
        while True:
            if database is not None:
                database.look_after()
            children.look_after()
            time.sleep(0.3)
    except KeyboardInterrupt:
        return 0
    finally:
        again: list[int] = []
        for request in interrupts.REQUESTS:
            signal.signal(request, lambda number, _frame: again.append(number))
        say("Stopping ...")
        children.stop(hurry=lambda: bool(again))
        if children.keeps_database:
            embedded.stop(chosen.folder)
        (chosen.folder / "run.json").unlink(missing_ok=True)
        say("Stopped.")


def _environment(plan: Plan, secrets: dict[str, str]) -> dict[str, str]:
    """What every program may know."""
    return {
        **{name: value for name, value in os.environ.items() if name not in local_secrets.ALL},
        "CREDENTIALS_PUBLIC_KEY": local_secrets.public_half(secrets["CREDENTIALS_PRIVATE_KEY"]),
        "VAPID_PUBLIC_KEY": local_secrets.push_public_half(secrets["VAPID_PRIVATE_KEY"]),
        "MODEL_IS_OFFLINE": str(plan.own_model),  # some are not given the key that says so
        "REMIT_STATE_DIR": str(plan.folder),
        "SANDBOX_PORT": str(plan.sandbox_port),
        "MODEL_PORT": str(plan.model_port),
        "PYTHONUNBUFFERED": "1",
    }


def _given_secrets() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in local_secrets.ALL}


def _run(children: Children, program: Program) -> None:
    if children.run(program):
        raise RunError(
            f"{program.name} failed. The end of {children.log(program.name)}:\n"
            f"{children.last_lines(program.name)}"
        )


def _await(children: Children, name: str, is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready():
        if not children.is_alive(name) or time.monotonic() > deadline:
            raise RunError(
                f"{name} did not start. The end of {children.log(name)}:\n"
                f"{children.last_lines(name)}"
            )
        time.sleep(0.05)


def _is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310  # our own address
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def _step(name: str) -> Iterator[None]:
    began = time.monotonic()
    say(f"  {name} ...", end="")
    yield
    say(f" {time.monotonic() - began:.1f} s")


def say(text: str, *, end: str = "\n") -> None:
    # The terminal may be gone; the programs must still be stopped.
    with suppress(OSError):
        print(text, end=end, flush=True)


def main() -> int:
    """Returns the exit code."""
    try:
        return supervise()
    except (RunError, embedded.EmbeddedDatabaseError, state.StateError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
