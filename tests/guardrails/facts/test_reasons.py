"""What may follow from a refusal."""

from guardrails.facts.reasons import SENTENCES, can_be_asked_for


def test_only_a_persons_own_wish_can_be_asked_for() -> None:
    askable = {one for one in SENTENCES if can_be_asked_for(trigger="chat", reason=one)}
    assert askable == {
        "not_permitted",
        "draft_only",
        "target_not_listed",
        "receiver_novel",
        "target_changed",
        "condition_failed",
    }
    for trigger in ("webhook", "pattern", "schedule", "operator", "mcp"):
        assert not any(can_be_asked_for(trigger=trigger, reason=one) for one in SENTENCES)
