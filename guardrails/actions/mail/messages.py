"""What drafts and sent mail have in common: receivers in headers, and text."""

from collections.abc import Sequence

from guardrails.facts.targets import Role, Target


def receivers(role: Role, addresses: Sequence[str], *, field: str = "") -> tuple[Target, ...]:
    """The addresses of one argument as targets; `field` names it where it isn't the role."""
    if not addresses:
        return ()
    name = field or role
    return tuple(
        [
            Target(path=f"{name}[{index}]", kind="recipient", value=address, role=role)
            for index, address in enumerate(addresses)
        ]
    )


def named(addresses: Sequence[str]) -> str:
    """The receivers in words; a long list is cut and says so."""
    listing = ", ".join(addresses[:5])
    return f"{listing} and {len(addresses) - 5} more" if len(addresses) > 5 else listing
