"""A person who acts: a name, an access level, and for a reviewer the one queue or survey that they were invited to."""

from dataclasses import dataclass

from flipcore.access.levels import MAY, Level, Permission

QUEUE, SURVEY = "queue:", "survey:"
EVERY = "all sources"  # the queue of every stored paraphrase


@dataclass(frozen=True)
class Person:
    """`name` is "" where nobody was asked for one: alone on localhost and on the command line. `scope` is `queue:` and a source of
    paraphrases, `survey:` and its id, or "" for no limit. `invitation` is the id of the link that they came by."""

    name: str
    level: Level
    scope: str = ""
    invitation: str = ""

    def may(self, permission: Permission) -> bool:
        """Whether the level allows it; a reviewer has one of the two permissions of their kind, by their scope."""
        if self.level not in MAY[permission]:
            return False
        if self.level is Level.REVIEWER:
            return self.scope.startswith(QUEUE if permission is Permission.JUDGE else SURVEY)
        return True

    @property
    def source(self) -> str:
        """The source of paraphrases that this person judges."""
        return self.scope.removeprefix(QUEUE) if self.scope.startswith(QUEUE) else EVERY

    @property
    def survey(self) -> str:
        """The one survey that this person answers; "" for any."""
        return self.scope.removeprefix(SURVEY) if self.scope.startswith(SURVEY) else ""


OWNER = Person("", Level.ADMIN)  # whoever holds the file: alone on localhost, and on the command line
NOBODY = Person("", Level.NONE)
