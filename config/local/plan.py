"""What one `make run` starts and where, by what the environment leaves open."""

import os
from dataclasses import dataclass
from pathlib import Path

from config.local import ports, state


class RunError(RuntimeError):
    """Something did not start. The message says what and why."""


@dataclass(frozen=True)
class Plan:
    """What this run starts, by what the environment leaves open."""

    folder: Path
    web_port: int
    sandbox_port: int
    model_port: int
    own_database: bool
    own_sandbox: bool
    own_model: bool

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"


def plan() -> Plan:
    """Read the plan from the environment. Raises RunError for a port that is no number."""
    return Plan(
        folder=state.state_dir(),
        web_port=_port("REMIT_PORT", 8000),
        sandbox_port=_port("SANDBOX_PORT", 8010),
        model_port=_port("MODEL_PORT", 8020),
        own_database=not os.environ.get("DATABASE_URL"),
        own_sandbox=not os.environ.get("DATA_SERVICES"),
        own_model=not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")),
    )


def check_ports(plan: Plan) -> None:
    """Raises RunError, naming the variable to change, if a port that we need is in use."""
    needed = [(plan.web_port, "REMIT_PORT", True)]
    needed.append((plan.sandbox_port, "SANDBOX_PORT", plan.own_sandbox))
    needed.append((plan.model_port, "MODEL_PORT", plan.own_model))
    for port, name, wanted in needed:
        if wanted and not ports.is_free(port):
            raise in_use(port, name)


def in_use(port: int, name: str) -> RunError:
    """The error for a port that another program has; `name` is the variable that changes it."""
    return RunError(
        f"Port {port} is in use by another program. Stop that program, or choose another port: "
        f"{name}={port + 1000} make run"
    )


def _port(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise RunError(f"{name} must be a port number from 1 to 65535, not {text!r}.")
    return int(text)
