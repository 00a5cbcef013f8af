"""Who gets which mail (D0 Job Definition, section 5); pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from d0ctl.jobfile.spec import MailMode
from d0ctl.sitefile.mail import NOBODY, OTHERS, is_address
from d0ctl.store.nodes.catalogue import Researchers, researcher_of

RESEARCHER, GRID, CLUSTER = "researcher", "grid-control", "cluster-admin"

COMMAND = "command"
"""Stands for the site's command among the recipients."""

DIGEST_S = 300.0
"""How long failures wait for others that can share their mail."""

COMMAND_DIGEST_S = 10.0
"""The same for the site's command."""

RATE = 20
"""Most mails per hour for a recipient."""

HOUR_S = 3600.0

ROUTES: Mapping[str, tuple[str, ...]] = {
    "platform-failure": (CLUSTER,),
    "lost": (RESEARCHER, CLUSTER),
    "looping": (RESEARCHER,),
    "seg-fault": (RESEARCHER, GRID, CLUSTER),
    "missing-output": (RESEARCHER, GRID, CLUSTER),
    "log-message": (RESEARCHER,),
    "disk-full": (RESEARCHER, CLUSTER),
    "launch-failed": (RESEARCHER, CLUSTER),
    "hook": (RESEARCHER, CLUSTER),
    "missing-input": (RESEARCHER, GRID),
    "stage-in": (RESEARCHER, GRID),
    "stage-out": (RESEARCHER, GRID),
    "software-missing": (RESEARCHER, GRID),
}
"""Recipients of failures by reason; for all other reasons, the researcher."""


class Person(Struct, frozen=True):
    """A recipient; `digest` is in seconds, `rate` in mails per hour."""

    address: str
    mode: MailMode = MailMode.EVERYTHING
    digest: float = DIGEST_S
    rate: int = RATE


class Routes(Struct, frozen=True):
    """Recipients by the sections `mail` and `researchers` of the site file."""

    said: Mapping[str, Any]
    researchers: Researchers = {}

    def of_failure(
        self, reason: str, cluster: str | None, originator: str, mode: str | None
    ) -> list[Person]:
        """Return the recipients of a failure of a job; `mode` is that of its job file."""
        roles = self.said.get("routes", {}).get(reason) or ROUTES.get(reason, (RESEARCHER,))
        found: dict[str, Person] = {}
        for role in roles:
            for person in self._people(role, cluster, originator, mode):
                found.setdefault(person.address, person)
        return self._with_command(found.values())

    def of_job(self, originator: str, mode: str | None) -> list[Person]:
        """Return the recipients of a job's end."""
        return self._with_command(self._people(RESEARCHER, None, originator, mode))

    def of_node(self, cluster: str) -> list[Person]:
        """Return the recipients for a node of a cluster."""
        return self._with_command(self._people(CLUSTER, cluster, "", None))

    def of_standstill(self, clusters: Iterable[str]) -> list[Person]:
        """Return the recipients of a standstill: the admins of all clusters and of the grid."""
        found: dict[str, Person] = {}
        for cluster in clusters:
            for person in self._people(CLUSTER, cluster, "", None):
                found.setdefault(person.address, person)
        for person in self._people(GRID, None, "", None):
            found.setdefault(person.address, person)
        return self._with_command(found.values())

    def person(self, name: str) -> Person:
        """Return a recipient by address, or by the `mail` of jobs for their originator."""
        if name == COMMAND:
            return Person(COMMAND, digest=COMMAND_DIGEST_S)
        entries: Mapping[str, Mapping[str, Any]] = self.said.get("recipients", {})
        entry: Mapping[str, Any] = entries.get(name) or next(
            (entry for entry in entries.values() if entry.get("address") == name), {}
        )
        preferences = {
            key: self.said[key] for key in ("mode", "digest", "rate") if key in self.said
        }
        who = researcher_of(name, self.researchers)
        mail = None if who is None else self.researchers[who].get("mail")
        fields = {"address": mail or name, **preferences, **entry}
        return Person(**{**fields, "mode": MailMode(fields.get("mode", MailMode.EVERYTHING))})

    def _people(
        self, role: str, cluster: str | None, originator: str, mode: str | None
    ) -> Iterator[Person]:
        """Return the people of a role who have an address and want mail."""
        for name in self._names(role, cluster, originator):
            person = self.person(name)
            if role == RESEARCHER and mode is not None:
                person = Person(person.address, MailMode(mode), person.digest, person.rate)
            if "host" in self.said and is_address(person.address) and person.mode != MailMode.NEVER:
                yield person

    def _names(self, role: str, cluster: str | None, originator: str) -> Iterable[str]:
        if role == RESEARCHER:
            return [originator]
        if role == NOBODY:
            return []
        if role not in (GRID, CLUSTER):
            return [role]
        said = self.said.get(role, [])
        if isinstance(said, Mapping):
            return said.get(cluster or OTHERS) or said.get(OTHERS) or []
        return said  # type: ignore[no-any-return]

    def _with_command(self, people: Iterable[Person]) -> list[Person]:
        has_command = any(self.said.get(key) for key in ("command", "notifier", "webhook"))
        command = [self.person(COMMAND)] if has_command else []
        return [*people, *command]
