"""The API of what Remit learned: patterns that act without a model, and skills that agents load."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.conflict import Conflict
from guardrails.api.learning_shapes import (
    PatternPage,
    PatternRow,
    PatternsFields,
    PatternWord,
    SkillPage,
    SkillRow,
    SkillsFields,
    SkillWord,
)
from guardrails.api.scope import accounts_of
from guardrails.learn import evidence, patterns, skills
from guardrails.models import LearnedPattern, PatternEvidence, Skill
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.contracts import AccountRef
from integrations.web.authentication import HasScope, caller_for, caller_of
from integrations.web.cursors import page
from integrations.web.idempotency import ApiView

Side = PatternEvidence.Side


class PatternsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(parameters=[PatternsFields], responses=PatternPage, operation_id="patterns")
    def get(self, request: Request) -> Response:
        """What is done with the user's recurring mail without a model, or waits for a person who
        says that it may; newest first."""
        chosen = PatternsFields.read(request.query_params.dict())
        rows = _patterns(accounts_of(request, chosen["user_id"]))
        if state := chosen.get("state"):
            rows = rows.filter(state=state)
        found, after = page(rows, chosen, by="created_at")
        return Response(PatternPage({"items": found, "next_cursor": after}).data)


class DecidePatternView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("learning")]

    @extend_schema(request=PatternWord, responses=PatternRow, operation_id="pattern_decide")
    def post(self, request: Request, pattern_id: UUID) -> Response:
        """A person lets a pattern act, declines it, or stops it. To approve, name its `tried_at`,
        so that nothing acts that was changed since it was read; what Remit learned needs enough
        evidence. Stopped twice is stopped."""
        word = PatternWord.read(request.data)
        accounts = accounts_of(request, word["user_id"])
        with changes.recording(LearnedPattern, [pattern_id], author=_author(request)):
            own = LearnedPattern.objects.select_for_update().filter(
                account_id__in=[one.id for one in accounts]
            )
            row = own.filter(id=pattern_id).first()
            if row is None:
                raise exceptions.NotFound("There is no such pattern.", code="unknown_pattern")
            _decide(row, word, by=caller_of(request).principal, now=timezone.now())
        return Response(PatternRow(_patterns(accounts).get(id=pattern_id)).data)


class SkillsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(parameters=[SkillsFields], responses=SkillPage, operation_id="skills")
    def get(self, request: Request) -> Response:
        """Every version of the user's own skills and of those that all share, newest first."""
        chosen = SkillsFields.read(request.query_params.dict())
        rows = _skills(request, chosen["user_id"])
        if state := chosen.get("state"):
            rows = rows.filter(state=state)
        found, after = page(rows, chosen, by="created_at")
        return Response(SkillPage({"items": found, "next_cursor": after}).data)


class DecideSkillView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("learning")]

    @extend_schema(request=SkillWord, responses=SkillRow, operation_id="skill_decide")
    def post(self, request: Request, skill_id: UUID) -> Response:
        """A person publishes or rejects a version that an agent proposed. A version never
        changes, so its id is bound to its text."""
        word = SkillWord.read(request.data)
        rows = _skills(request, word["user_id"]).filter(id=skill_id)
        caller = caller_for(request, word["user_id"])
        if caller.user_ids:  # what all share is not theirs to decide
            rows = rows.exclude(account=None)
        if not rows.exists():
            raise exceptions.NotFound("There is no such skill.", code="unknown_skill")
        with changes.recording(Skill, [skill_id], author=_author(request)):
            decide = skills.approve if word["decision"] == "approve" else skills.reject
            done = decide(skill_id=skill_id, by=caller.principal)
        row = rows.get()
        wanted = Skill.State.PUBLISHED if word["decision"] == "approve" else Skill.State.REJECTED
        if not done and row.state != wanted:
            raise Conflict("It was decided already, or a newer version is published.")
        return Response(SkillRow(row).data)


def _author(request: Request) -> Author:
    return Author(name=caller_of(request).principal, door="api")


def _patterns(accounts: Iterable[AccountRef]) -> QuerySet[LearnedPattern]:
    sides = {side.value: Count("evidence", filter=Q(evidence__side=side)) for side in Side}
    rows = LearnedPattern.objects.filter(account_id__in=[one.id for one in accounts])
    return rows.select_related("account").prefetch_related("actions").annotate(**sides)


def _decide(row: LearnedPattern, word: dict[str, Any], *, by: str, now: datetime) -> None:
    """Raises Conflict."""
    if word["decision"] == "suspend":
        stopped = patterns.suspend(pattern_id=row.id, why=f"{by} suspended it.", now=now)
        if not stopped and row.state != LearnedPattern.State.SUSPENDED:
            raise Conflict("It does not act, so there is nothing to stop.")
    elif word["decision"] == "decline":
        declined = patterns.decline(pattern_id=row.id, why=f"{by} declined it.", now=now)
        if not declined and row.state != LearnedPattern.State.SUSPENDED:
            raise Conflict("It acts already. Suspend it instead.")
    elif lack := evidence.refuse_approval(row, row.evidence.all()):
        raise Conflict(str(lack))
    elif row.tried_at != word.get("tried_at"):
        raise Conflict("It was changed or tried again since it was read. Read it again.")
    else:
        patterns.approve(pattern_id=row.id, by=by, now=now)


def _skills(request: Request, user_id: str) -> QuerySet[Skill]:
    accounts = accounts_of(request, user_id)
    own = Q(account_id__in=[one.id for one in accounts]) | Q(account=None)
    return Skill.objects.filter(own, organisation_id=caller_of(request).organisation_id)
