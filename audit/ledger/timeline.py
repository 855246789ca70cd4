"""An action's phases in words, as people's pages show them.

What strangers wrote is plain text here: invisible characters become visible, and only an
address of the web becomes a link.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from audit.contracts import Recorded
from audit.ledger.people import Names, call, call_user, who, with_id

COLOURS = {
    "pending": "info",
    "waiting": "info",
    "succeeded": "success",
    "noop": "success",
    "failed": "danger",
    "blocked": "warning",
    "denied": "warning",
    "unknown": "danger",
}
POLICY = "policy.change"
# Characters without a shape of their own: some hide text, some reorder it.
HIDDEN = {"Cc", "Cf", "Co", "Cn", "Zl", "Zp"}
INDEX = re.compile(r"\[\d+\]$")  # which of several values a check was about
SHAPED = re.compile(r"[^\x20-\x7e\n]")
PROGRAMS = ("agent", "system")  # actors whose names are no person's


def reveal(text: str) -> str:
    """`text` with every invisible character as ⟨U+200B⟩."""
    return SHAPED.sub(
        lambda found: (
            f"⟨U+{ord(found[0]):04X}⟩" if unicodedata.category(found[0]) in HIDDEN else found[0]
        ),
        text,
    )


def pretty(value: object) -> str:
    return reveal(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True))


def moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def verdict(decision: str, reason: str) -> str:
    words = reason.replace("_", " ")
    if decision == "none":
        return words or "-"
    return f"{decision}: {words}" if words else decision


def whole(phases: Sequence[Recorded]) -> dict[str, str]:
    """What is the same for all phases of an action, and tells where more is to be found."""
    names = ("account_id", "run_id", "pattern_id", "skill_ref", "policy_digest")
    found = {
        name: next((str(value) for row in phases if (value := getattr(row, name))), "")
        for name in names
    }
    is_decided = any(isinstance(row.payload.get("decision"), dict) for row in phases)
    return found | {
        "skill_name": found["skill_ref"].partition("@")[0],
        "action_id": str(phases[0].action_id) if phases else "",
        "is_decided": "yes" if is_decided else "",
        "changes_policy": "yes" if any(row.action_type == POLICY for row in phases) else "",
        "was_done": "yes" if any(row.status == "succeeded" for row in phases) else "",
    }


def step(phase: Recorded, names: Names) -> dict[str, Any]:
    """One phase as the timeline shows it. Text of strangers is plain text here."""
    as_user = str(phase.payload.get("as_user", ""))
    of = phase.tenant_id
    for_whom, answered_for = (call_user(of, id, names) for id in (phase.on_behalf_of, as_user))
    approved_by = call(of, phase.approved_by, names)
    decided = phase.payload.get("decision")
    sentence = decided.get("sentence", "") if isinstance(decided, dict) else ""
    return {
        "phase": phase.phase,
        "attempt_no": phase.attempt_no,
        "status": phase.status,
        "colour": COLOURS.get(phase.status, ""),
        "row": phase.id,
        "at": moment(phase.recorded_at),
        "who": reveal(who(phase, names)),
        "facts": [
            (name, reveal(str(value)))
            for name, value in (
                ("Decision", verdict(phase.decision, phase.decision_reason)),
                ("Why", sentence or phase.payload.get("sentence", "")),
                ("Actor", phase.actor_id if ":" in phase.actor_id else ""),
                ("On behalf of", with_id(for_whom, phase.on_behalf_of)),
                ("Trigger", phase.trigger),
                ("Approved by", with_id(approved_by, phase.approved_by)),
                ("Answered for", with_id(answered_for, as_user)),
                ("Approval", phase.approval_id),
                ("Resource", f"{phase.resource_type} {phase.resource_id}".strip()),
                ("Target", phase.target_id),
                ("Error", phase.error_code),
                ("Clocks", apart(phase)),
                ("Took", f"{phase.latency_ms} ms" if phase.latency_ms is not None else ""),
                ("Policy", phase.policy_digest),
                ("Idempotency key", phase.idempotency_key),
                ("Provider's request", phase.provider_request_id),
                ("Credential", phase.credential_ref),
            )
            if value and value != "-"
        ],
        "checks": checks(decided),
        "artifacts": [
            {
                "kind": artifact.kind,
                "provider": artifact.provider,
                "id": reveal(artifact.external_id),
                "url": reveal(artifact.url),
                "link": is_web_address(artifact.url),
            }
            for artifact in phase.artifacts
        ],
        "payload": pretty(phase.payload) if phase.payload else "",
    }


def apart(phase: Recorded) -> str:
    """What to think of the two times of a row that do not agree; empty where they do."""
    behind = phase.clocks_apart
    if behind is None:
        return ""
    seconds = behind.total_seconds()
    return (
        f"⚠ The worker's clock was {abs(seconds):,.1f} s "
        f"{'behind' if seconds > 0 else 'ahead of'} the database's, and said "
        f"{moment(phase.occurred_at)}. Only the order of the seals is certain."
    )


def checks(decided: object) -> list[dict[str, Any]]:
    """What was looked at, in order, as the decision wrote it down."""
    found = decided.get("checks", []) if isinstance(decided, dict) else []
    return [
        {
            "passed": bool(check.get("passed")),
            "name": reveal(INDEX.sub("", str(check.get("name", ""))).replace("_", " ")),
            "detail": reveal(str(check.get("detail", ""))),
        }
        for check in found
        if isinstance(check, dict)
    ]


def is_web_address(url: str) -> bool:
    """Whether `url` may be a link: never javascript:, data: and the like."""
    try:
        return urlsplit(url).scheme in ("http", "https") and reveal(url) == url
    except ValueError:
        return False
