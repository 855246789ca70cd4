"""The policy page of an account: presets for an empty one, and why something was refused."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.contracts import Origin
from guardrails.decide import policy
from guardrails.execute.executor import execute
from guardrails.facts import reasons
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.models import AllowedAction
from guardrails.policies import files as policy_files, presets, text as policy_text
from guardrails.policies.findings import findings
from guardrails.policies.why import REMEDIES, check_in_words
from integrations.models import Account, Organisation, ProviderResource
from tests.clients import log_in, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "<script>alert(1)</script>"


def page(client: Client, name: str, *args: Any, **query: Any) -> str:
    return read_page(client, reverse(f"admin:guardrails_policy_{name}", args=args), **query)


def test_an_account_without_allowed_actions_is_offered_presets(
    office: Office, client: Client
) -> None:
    text = page(client, "explain", account=office.mailbox.pk)

    assert "Nothing is permitted." in text
    assert "preset=careful-mailbox" in text
    assert "preset=jira-desk" not in text
    office.permit("archive")
    assert "Nothing is permitted." not in page(client, "explain", account=office.mailbox.pk)


def test_it_says_what_is_to_be_mended_in_the_policy(office: Office, client: Client) -> None:
    assert "To correct in this policy" not in page(client, "explain", account=office.mailbox.pk)
    office.permit("classify")
    text = page(client, "explain", account=office.mailbox.pk)
    found = findings(policy_snapshot(office.ref(office.mailbox)), "gmail")
    assert [one.severity for one in found] == ["error"]
    assert "To correct in this policy" in text
    assert "Grants nothing" in text
    assert escape(found[0].about) in text
    assert escape(found[0].sentence) in text


def test_a_new_account_leads_to_its_policy(office: Office, client: Client) -> None:
    form = {
        "organisation": office.organisation.pk,
        "external_user_id": f"new-{uuid4()}",
        "source": "gmail",
        "address": "new@company.com",
        "display_name": "New",
        "time_zone": "Europe/Stockholm",
        "_save": "Save",
    }

    response = client.post(reverse("admin:integrations_account_add"), form, follow=True)

    made = Account.objects.get(external_user_id=form["external_user_id"])
    assert response.redirect_chain[-1][0].endswith(f"explain/?account={made.pk}")
    assert "Nothing is permitted." in response.content.decode()


def test_each_allowed_action_and_target_is_one_step_away(office: Office, client: Client) -> None:
    allowed_action = office.permit("classify")
    target = office.list_target("classify", "label", "label_fyi", "FYI")

    text = page(client, "explain", account=office.mailbox.pk)

    assert reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk]) in text
    assert reverse("admin:guardrails_allowedactionoption_change", args=[target.pk]) in text
    query = f"?account={office.mailbox.pk}&action_type=archive"
    form = client.get(reverse("admin:guardrails_allowedaction_add") + query).content.decode()
    assert '<option value="archive" selected' in form
    assert f'<option value="{office.mailbox.pk}" selected' in form


def test_a_refusal_is_explained(office: Office, client: Client) -> None:
    office.permit("send_email")
    wish = {"to": ["eve@evil.example"], "subject": HOSTILE, "body": "Hello"}
    result = execute(office.request("send_email", wish))

    listed = page(client, "explain", account=office.mailbox.pk)
    text = page(client, "why", result.action_id)

    assert reverse("admin:guardrails_policy_why", args=[result.action_id]) in listed
    assert "A target is not among those an operator listed." in text
    assert "The target would have to be listed for this action." in text
    assert "The target is listed: to — “eve@evil.example” (to)" in text
    assert "✓ passed: The action is allowed, switched on, and not in the mode “never”" in text
    allowed_action = AllowedAction.objects.get()
    assert reverse("admin:guardrails_allowedaction_change", args=[allowed_action.pk]) in text
    assert HOSTILE not in text
    assert office.calls() == []


def test_where_no_account_is_named_it_is_about_the_first_one(
    office: Office, client: Client
) -> None:
    text = page(client, "explain", organisation=office.organisation.slug)

    first = Account.objects.order_by("external_user_id", "source")[0]
    assert f"{first}: what it may do now" in text
    assert "Choose an account." in page(client, "explain", account="nobody")


def test_without_an_account_it_leads_to_the_setup(client: Client) -> None:
    Organisation.objects.create(slug="empty", name="Empty")

    text = page(client, "explain", organisation="empty")

    assert "No account is connected here yet." in text
    assert "Choose an account." not in text
    assert 'id="account"' not in text


def test_what_may_be_reached_is_asked_by_name_or_by_id(office: Office, client: Client) -> None:
    office.permit("classify")
    office.list_target("classify", "label", "label_fyi", "FYI")
    ProviderResource.objects.create(
        account=office.mailbox, resource_type="label", external_id="label_fyi", name="FYI"
    )
    ProviderResource.objects.create(
        account=office.mailbox, resource_type="label", external_id="other", name="FYI\u202e"
    )

    by_name, by_id, unknown = (
        page(client, "explain", account=office.mailbox.pk, target=one).split("May it ever reach")[1]
        for one in ("fyi", "label_fyi", "FYIs")
    )

    assert by_name.count("<option value=") == 1  # no name that hides something
    assert '<option value="FYI">' in by_name
    said = "Label a mail (label)"
    verdicts = [text.split(said)[1].split("</p>")[0] for text in (by_name, by_id, unknown)]
    assert verdicts[0] == verdicts[1] != verdicts[2]


def test_what_nobody_permitted_offers_to_permit_it(office: Office, client: Client) -> None:
    origin = Origin(trigger="chat", user_words="archive it")
    result = execute(office.request("archive", {"email_id": "mail-1"}, origin=origin))

    text = page(client, "why", result.action_id)

    assert f"?account={office.mailbox.pk}&amp;action_type=archive" in text
    assert "Allowed action: none counted." in text


def test_where_each_value_came_from_is_named(office: Office, client: Client) -> None:
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient", "ada@client.com")
    wish = {"to": ["ada@client.com"], "subject": "Hi", "body": "Hello"}
    result = execute(office.request("send_email", wish))

    text = page(client, "why", result.action_id)

    assert "on the list of what is permitted" in text
    assert "written by the agent or found in content" in text
    assert "What would have to change" not in text


def test_who_may_be_reached_by_the_directory_is_put_in_words(
    office: Office, client: Client
) -> None:
    directory = {"kind": "recipient", "relation": ["directory", "listed"]}
    office.permit("send_email", conditions=[directory])

    text = page(client, "explain", account=office.mailbox.pk)

    assert "every receiver is a colleague in the organisation&#x27;s directory or listed" in text


def test_an_unknown_action_is_not_found(office: Office, client: Client) -> None:
    address = reverse("admin:guardrails_policy_why", args=[uuid4()])
    assert client.get(address).status_code == 404


def test_every_check_is_put_in_words() -> None:
    source = "".join(one.read_text() for one in Path(policy.__file__).parent.rglob("*.py"))
    called = r"""(?:bare\(|refuse\(\s*"\w+",\s*|Check\(\s*name=)f?"([a-z ]+?)( \{|")"""
    names = {name: rest != '"' for name, rest in re.findall(called, source)}
    assert {"switches", "no correction", "others"} <= set(names)

    unsaid = {
        name
        for name, has_path in names.items()
        if (check_in_words(f"{name} to") if has_path else check_in_words(name)).lower()
        == (f"{name} to" if has_path else name)
    }

    assert unsaid == {"condition"}  # said by the title of its kind


def test_remedies_are_for_known_reasons() -> None:
    assert set(REMEDIES) <= set(reasons.SENTENCES)


# --- presets and files ----------------------------------------------------------------


def history(office: Office) -> list[tuple[str, str, str]]:
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    return sorted(
        (row.payload["kind"], row.payload["door"], row.actor_id)
        for row in actions(filters=filters).rows
    )


def shown(text: str) -> str:
    return text.split('name="shown" value="')[1].split('"')[0]


def test_a_preset_is_shown_in_words_and_then_applied(office: Office, client: Client) -> None:
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"

    text = client.get(address + "&preset=newsletter-triage").content.decode()

    assert "2 entries would change" in text
    assert "Allowed action “Archive a mail”" in text
    assert "done without asking, only if the mail provably comes from" in text
    assert not AllowedAction.objects.exists()
    body = {"text": presets.load("newsletter-triage"), "shown": shown(text), "_save": "1"}
    answer = client.post(address, body, follow=True).content.decode()
    assert "2 entries changed." in answer
    assert set(AllowedAction.objects.values_list("action_type", flat=True)) == {
        "archive",
        "classify",
    }
    assert history(office) == [("allowedaction", "admin", "operator:olga")] * 2


def test_nothing_is_applied_that_was_not_shown(office: Office, client: Client) -> None:
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"
    text = client.get(address + "&preset=newsletter-triage").content.decode()
    office.permit("archive")

    body = {"text": presets.load("newsletter-triage"), "shown": shown(text), "_save": "1"}
    answer = client.post(address, body).content.decode()

    assert "The policy changed meanwhile." in answer
    assert AllowedAction.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not both"),
        ("version: 2", "This is not a policy file."),
        ("[", "neither YAML nor JSON"),
        ("version: 1\nallowed_actions: [{action: <b>, mode: auto}]", "is not a valid choice"),
        (
            "version: 1\nallowed_actions: [{action: create_jira_task, mode: auto}]",
            "This action needs issues that can be written to",
        ),
        (
            "version: 1\nallowed_actions: [{action: archive, mode: auto, conditions: [{kind: x}]}]",
            "“x” is not a condition",
        ),
        (
            "version: 1\ntargets: [{action: classify, kind: label, id: a, name: a, group: g}]",
            "There is no group “g”",
        ),
    ],
)
def test_a_bad_file_is_explained(office: Office, client: Client, text: str, sentence: str) -> None:
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"

    answer = client.post(address, {"text": text}).content.decode()

    assert sentence in answer
    assert "<b>" not in answer
    assert 'name="shown"' not in answer


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_downloaded_is_what_can_be_put_back(
    office: Office, client: Client, form: str
) -> None:
    office.permit("archive", conditions=[{"kind": "sender_authenticated"}])
    office.list_target("classify", "label", "label_fyi", "FYI")
    query = {"account": str(office.mailbox.pk), "format": form}

    response = client.get(reverse("admin:guardrails_policy_export"), query)

    assert f".{form}" in response["Content-Disposition"]
    text = response.content.decode()
    assert policy_text.read(text) == policy_files.exported(office.mailbox)
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"
    assert "Nothing would change" in client.post(address, {"text": text}).content.decode()


def test_a_file_is_tried_on_the_past_before_it_is_applied(office: Office, client: Client) -> None:
    office.permit("archive")
    mail = office.receive()
    assert execute(office.request("archive", {"email_id": mail})).status == "succeeded"
    calls = office.calls()
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"
    body = {"text": "version: 1\nallowed_actions: []"}
    body |= {"shown": shown(client.post(address, body).content.decode())}

    tried = client.post(address, body | {"_try": "1", "_last": "500", "_of": "decisions"})

    assert "0 newly allowed, 0 newly asked about, 1 newly refused" in tried.content.decode()
    assert AllowedAction.objects.exists()
    assert office.calls() == calls
    back = client.post(address, body | {"_back": "1"}).content.decode()
    assert "1 entry would change" in back
    assert AllowedAction.objects.exists()
    client.post(address, body | {"_save": "1"})
    assert not AllowedAction.objects.exists()


def test_what_a_file_would_get_wrong_is_said_before_it_is_applied(
    office: Office, client: Client
) -> None:
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"
    text = """
    version: 1
    allowed_actions:
      - action: archive
        mode: auto
        conditions: [{kind: sender, domains: [a.com]}, {kind: sender, domains: [b.com]}]
    """

    answer = client.post(address, {"text": text}).content.decode()

    assert "To correct in the new policy: 1" in answer
    assert "exclude each other, so it refuses everything." in answer


def test_applying_needs_the_rights(office: Office, client: Client) -> None:
    address = reverse("admin:guardrails_policy_import") + f"?account={office.mailbox.pk}"
    text = client.get(address + "&preset=newsletter-triage").content.decode()
    watching = log_in("rita", "view_allowedaction")

    seen = watching.get(address + "&preset=newsletter-triage").content.decode()
    body = {"text": presets.load("newsletter-triage"), "shown": shown(text), "_save": "1"}

    assert "You may look, but not apply it." in seen
    assert watching.post(address, body).status_code == 403
    assert not AllowedAction.objects.exists()
