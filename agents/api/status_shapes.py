"""The shape of what the API says of its agents: models, limits, tools, and what is stopped."""

from typing import Any

from rest_framework import serializers


class ToolRow(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField()


class AgentRow(serializers.Serializer[Any]):
    name = serializers.CharField()
    model = serializers.CharField()
    version = serializers.CharField(
        help_text="Another one whenever its prompt or its tools are others; the ledger names it."
    )
    max_steps = serializers.IntegerField(help_text="Answers of its model.")
    max_tool_calls = serializers.IntegerField(help_text="Of the whole turn, as what follows.")
    max_tokens = serializers.IntegerField(help_text="0: no limit")
    max_cost = serializers.DecimalField(
        max_digits=12, decimal_places=2, help_text="In US dollars; 0: no limit"
    )
    tools = ToolRow(many=True)


class StopRow(serializers.Serializer[Any]):
    """Something that an operator has stopped for the caller's organisation."""

    what = serializers.CharField(source="__str__")
    why = serializers.CharField()
    since = serializers.DateTimeField(source="thrown_at")
    arrived = serializers.IntegerField(help_text="Mails that were left alone meanwhile.")


class StatusResponse(serializers.Serializer[Any]):
    chat_model = serializers.CharField()
    model_is_offline = serializers.BooleanField(
        help_text="True: written rules answer, not a language model."
    )
    max_seconds = serializers.FloatField(help_text="Of a turn.")
    agents = AgentRow(many=True)
    stops = StopRow(many=True, help_text="What is stopped now: nothing of it is done.")
