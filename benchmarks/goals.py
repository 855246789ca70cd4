"""What a benchmark says of its goals."""


def tell(goals: dict[str, bool]) -> dict[str, bool]:
    """Prints of each goal whether it was met; returns them, for the line of JSON."""
    for goal, is_met in goals.items():
        print(f"{'met   ' if is_met else 'MISSED'} {goal}")
    return goals
