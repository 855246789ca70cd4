"""The shape of a card in the APIs: the same wherever a person is asked."""

from typing import Any

from rest_framework import serializers


class Value(serializers.Serializer[Any]):
    path = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    text = serializers.CharField(help_text="In full, with hidden characters shown.")
    provenance = serializers.CharField(help_text="Where it comes from, in words.")
    is_target = serializers.BooleanField(help_text="It decides where the action goes.")
    is_new = serializers.BooleanField(help_text="A target that nobody typed or listed.")


class Exposed(serializers.Serializer[Any]):
    """What others get to see by the action: one object, or text that is put into it."""

    kind = serializers.CharField()
    title = serializers.CharField(help_text="Somebody's words, in quotation marks.")
    owner = serializers.CharField()
    newcomers = serializers.ListField(
        child=serializers.CharField(), help_text="Who sees it from then on, each with their role."
    )
    readers = serializers.ListField(child=serializers.CharField(), help_text="Who sees it now.")
    adds = serializers.BooleanField(help_text="Text is put into it; its readers stay the same.")
    named = serializers.CharField(help_text="How the user named it, in words.")
    is_new = serializers.BooleanField(help_text="Nobody named it in this request.")
    written = serializers.CharField(help_text="Who wrote it, in words.")
    sensitive = serializers.ListField(child=serializers.CharField())
    passage = serializers.CharField(help_text="The beginning of what they read.")
    chars = serializers.IntegerField(help_text="How long all of it is.")
    lines = serializers.ListField(
        child=serializers.CharField(), help_text="All of it in words, what matters most first."
    )


class WaitingCard(serializers.Serializer[Any]):
    """What a person needs to judge an action: show all of it, and nothing of the model's beside
    it."""

    id = serializers.UUIDField()
    type = serializers.CharField()
    heading = serializers.CharField(
        help_text="What would be done and to whom, in Remit's own words. Show it first, whole."
    )
    about = serializers.CharField(
        help_text="What somebody called it, in quotation marks: not Remit's words. Or empty."
    )
    description = serializers.CharField(help_text="Both in one line.")
    params = serializers.DictField(help_text="The arguments: exactly these are executed.")
    provenance = serializers.DictField(
        child=serializers.CharField(), help_text="Where each value comes from, in words."
    )
    values = Value(many=True, help_text="The arguments as people should see them, targets first.")
    exposures = Exposed(many=True, help_text="What others get to see by the action.")
    user_said = serializers.CharField(help_text="What the user typed in that request.")
    question = serializers.UUIDField(help_text="Like actions that wait are one question.")
    text = serializers.CharField(help_text="The whole card as plain lines, what decides first.")
    differences = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is there now and what there would be: [what, before, after].",
    )
    side_effects = serializers.ListField(child=serializers.CharField())
    revises = serializers.UUIDField(
        allow_null=True, help_text="The action that a person changed into this one."
    )
    proposed = serializers.DictField(
        help_text="What the agent proposed, where a person has changed it; else empty."
    )
    digest = serializers.CharField(help_text="Send it back to bind the answer to what was shown.")
    reason = serializers.CharField(help_text="Why a person is asked.")
    agent_said = serializers.CharField(help_text="The model's own reason. It is not evidence.")
    yeses = serializers.CharField(
        help_text="Where two people have to say yes: how many have, who and when. Or empty."
    )
    not_yours = serializers.CharField(
        help_text="Why the yes that is missing is not yours to say, in words; empty where it is. "
        "Show it in place of the button for yes."
    )
    delegated = serializers.CharField(help_text="To whom and by whom, in words; or empty.")
    expires_at = serializers.DateTimeField(allow_null=True)
