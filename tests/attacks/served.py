"""The office of an attack at real servers: mail on Dovecot or Cyrus and events on Radicale instead
of the sandbox's, under the names that the cases use."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from django_q.models import OrmQ

from agents import tasks
from integrations.accounts import reads
from integrations.models import Account, Delivery
from integrations.providers.caldav import trial
from integrations.providers.calendars.ids import event_id
from integrations.providers.imap.reader import mailbox_of
from integrations.providers.jmap.mails import mails_of
from tests.attacks.desk import Desk, drain, furnished
from tests.attacks.held import FOLDER, Held, Servers, held_at_servers, in_order, read_mail
from tests.attacks.written import write_event, write_mail
from tests.calendar_world import PASSWORD, USER
from tests.cyrus_world import CyrusWorld
from tests.guardrails.office import USUAL, Office
from tests.own_accounts import sign_in


@dataclass(kw_only=True)
class ServedOffice(Office):
    """What the cases say of mails, drafts and events happens at the servers; documents, issues and
    tools stay at the sandbox."""

    at: Servers
    names: dict[str, str] = field(default_factory=dict)  # how Remit calls what the cases name
    unread: set[str] = field(default_factory=set)  # where something has no name yet
    things: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    written: int = 0  # Cyrus takes no second mail with a Message-ID that it has seen

    @property
    def _unsaid(self) -> dict[str, dict[str, Any]]:
        """Of what the user makes, what a case does not say."""
        me = self.mailbox.address
        return {"drafts": {"from": me, "to": (), "subject": "", "body": ""}, "events": {}}

    # --- as somebody else, or the user in their own programs ---------------------------------

    def receive(self, **fields: Any) -> str:
        name = str(fields.pop("id", f"mail-{len(self.things)}-new"))
        if ("emails", name) in self.things:
            self._remove_mail(name)
        self.things["emails", name] = fields
        self._put_mail(name)
        return name

    def email(self, email_id: str) -> dict[str, Any]:
        thread = self.things["emails", email_id].get("thread_id", email_id)
        return {"id": self.called(email_id), "thread_id": thread}

    def put(self, collection: str, *objects: dict[str, Any], **fields: Any) -> None:
        if collection not in ("drafts", "events"):
            super().put(collection, *objects, **fields)
            return
        for one in objects or (fields,):
            given = USUAL[collection] | self._unsaid[collection] | one
            self.things[collection, str(given["id"])] = given
            self._put(collection, str(given["id"]))

    def change(self, collection: str, object_id: str, **fields: Any) -> None:
        if (collection, object_id) not in self.things:
            super().change(collection, object_id, **fields)
            return
        self.things[collection, object_id] |= fields
        self._put(collection, object_id)

    def control(self, method: str, path: str, body: object = None) -> Any:
        *_, collection, object_id = path.split("/")
        if method == "DELETE" and (collection, object_id) in self.things:
            self._remove(collection, object_id)
            return None
        return super().control(method, path, body)

    def list_target(
        self, action_type: str, kind: str, external_id: str, name: str = "", **fields: Any
    ) -> Any:
        return super().list_target(action_type, kind, self.called(external_id), name, **fields)

    def _put(self, collection: str, name: str) -> None:
        if collection == "events":
            self.at.calendar.put(
                name, write_event(self.things[collection, name], self.mailbox.address)
            )
            self.unread.add("events")
            return
        self._remove_mail(name)
        self._put_mail(name, "Drafts" if collection == "drafts" else "")

    def _remove(self, collection: str, name: str) -> None:
        if collection == "events":
            self.at.calendar.delete(name)
        else:
            self._remove_mail(name)

    def _put_mail(self, name: str, folder: str = "") -> None:
        """Where no folder is named, in the one that its labels say, or as it comes in."""
        fields = self.things["drafts" if folder else "emails", name]
        self.written += 1
        mail = write_mail(f"{name}.{self.written}", fields, self.mailbox.address)
        if not folder and "SENT" not in fields.get("labels", ()):
            self.at.mail.deliver(self.mailbox.address, mail)
        else:
            with self.at.mail.client(self.mailbox.address) as client:
                flags = [b"\\Seen", *([b"\\Draft"] if folder else [])]
                client.append(folder or "Sent", mail.as_bytes(), flags)
        self.unread.add("mails")

    def _remove_mail(self, name: str) -> None:
        with self.at.mail.client(self.mailbox.address) as client:
            for folder in ("INBOX", "Sent", "Drafts"):
                client.select_folder(folder)
                if uids := client.search(["HEADER", "Message-ID", f"<{name}."]):
                    client.delete_messages(uids)
                    client.expunge(uids)

    # --- what Remit calls them ----------------------------------------------------------------

    def called(self, value: Any) -> Any:
        """The same with the names that Remit has for what the cases name."""
        self._learn()
        if isinstance(value, dict):
            return {key: self.called(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.called(one) for one in value)
        return self.names.get(value, value) if isinstance(value, str) else value

    def said(self, words: str) -> str:
        self._learn()
        names = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True)))
        return re.sub(rf"(?<![\w-])({names})(?![\w-])", lambda one: self.names[one[1]], words)

    def _learn(self) -> None:
        """Remit knows a thing by having read it. An event's place it is named after."""
        if "events" in self.unread:
            reads.reader(self.ref(self.diary)).items(since=None, cursor=None, limit=100)
            for of, name in self.things:
                if of == "events":
                    self.names[name] = event_id(f"{self.at.calendar.calendar}{name}.ics")
        for id, message_id in self._listed() if "mails" in self.unread else ():
            if found := re.fullmatch(r"<?(.+)\.\d+@cases\.test>?", message_id):
                self.names[found[1]] = id
        self.unread.clear()

    def _listed(self) -> Iterator[tuple[str, str]]:
        account = self.ref(self.mailbox)
        if isinstance(self.at.mail, CyrusWorld):
            mails = mails_of(account)
            for one in mails.read(mails.get(mails.query(limit=100))[1]):
                yield one.email.id, one.email.message_id
            return
        with mailbox_of(account) as box:
            for folder in ("INBOX", "Sent", "Drafts"):
                for found in box.read(folder, box.heads(folder, box.search(folder))):
                    yield found.email.id, found.email.message_id


@dataclass(kw_only=True)
class ServedDesk(Desk):
    office: ServedOffice
    noted: Held = field(default_factory=dict)

    def note(self) -> None:
        """What the servers hold before the act. What is there by then starts nothing."""
        tasks.look_at_account(str(self.office.mailbox.id))
        OrmQ.objects.all().delete()
        Delivery.objects.filter(account=self.office.mailbox, finished_at=None).update(
            state=Delivery.State.PROCESSED, finished_at=timezone.now()
        )
        self.noted = self.held()

    def held(self) -> Held:
        return held_at_servers(self.office.at, self.office.mailbox.address)

    def changes(self) -> list[tuple[str, str, Any]]:
        """What is there that was not, and what is gone."""
        now = self.held()
        return [
            (what, how, one)
            for what, before in self.noted.items()
            for how, ones, others in (("new", now[what], before), ("gone", before, now[what]))
            for one in ones
            if ones.count(one) > others.count(one)
        ]

    def mail(self, **fields: Any) -> dict[str, Any]:
        name, me = self.office.receive(**fields), self.office.mailbox.address
        written = write_mail(name, self.office.things["emails", name], me).as_bytes()
        arrived = read_mail(written, ["INBOX", "UNREAD"])
        self.noted |= in_order(me, mails=[*map(tuple, self.noted["mails"]), arrived])
        return self.office.email(name)

    def arrive(self, mail: Mapping[str, Any]) -> None:
        """Remit looks, as it does where nobody pushes, and all work that comes of it is done."""
        tasks.look_at_account(str(self.office.mailbox.id))
        drain()


def moved(desk: Desk, servers: Servers) -> ServedDesk:
    """The same tenant with mail and events on these servers, furnished alike."""
    office = ServedOffice(**vars(desk.office), at=servers)
    address = office.mailbox.address
    if is_jmap := isinstance(servers.mail, CyrusWorld):
        servers.mail.add(address)
    with servers.mail.client(address) as client:
        client.create_folder(FOLDER)
    _keep(office.mailbox, "jmap" if is_jmap else "imap", address, servers.mail.servers)
    tried = trial.try_urls([servers.calendar.origin], user_name=USER, secret=PASSWORD)
    _keep(office.diary, "caldav", USER, tried.server.to_json())
    office.names = {"folder_clients": f"folder:{FOLDER}"}
    things = furnished(address)["items"]
    for mail in things["emails"]:
        office.receive(**mail)
    office.put("drafts", *things["drafts"])
    office.put("events", *things["events"])
    tasks.look_at_account(str(office.mailbox.id))
    drain()
    return ServedDesk(house=desk.house, office=office, token=desk.token)


def _keep(row: Account, source: str, user_name: str, servers: dict[str, Any]) -> None:
    row.source = source
    row.provider = row.kind = ""
    row.clean()
    row.save()
    sign_in(row.id, user_name=user_name, servers=servers, secret=PASSWORD)
