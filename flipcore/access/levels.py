"""Access levels and what each may do: the one table. A reviewer stands beside the others, not above the viewer."""

from enum import StrEnum


class Level(StrEnum):
    """What a person may do here; NONE is somebody of whom nothing is known."""

    NONE = ""
    REVIEWER = "reviewer"
    VIEWER = "viewer"
    ANALYST = "analyst"
    ADMIN = "admin"


class Permission(StrEnum):
    """What is allowed or not, as the sentence of a refusal names it."""

    READ = "read results"
    JUDGE = "judge paraphrases"
    ANSWER = "answer a survey"
    DECIDE = "write decisions, locks and verdicts on flips"
    RUN = "declare, start, stop and pay for studies"
    BRING = "bring in files, paraphrases and surveys"
    PUBLISH = "publish to a folder of the server or to the hub"
    MODELS = "add, test and remove models"
    FILES = "merge and delete"
    ACCESS = "give access and see who did what"


MAY: dict[Permission, frozenset[Level]] = {
    Permission.READ: frozenset({Level.VIEWER, Level.ANALYST, Level.ADMIN}),
    Permission.JUDGE: frozenset({Level.REVIEWER, Level.ANALYST, Level.ADMIN}),
    Permission.ANSWER: frozenset({Level.REVIEWER, Level.ANALYST, Level.ADMIN}),
    Permission.DECIDE: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.RUN: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.BRING: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.PUBLISH: frozenset({Level.ANALYST, Level.ADMIN}),
    Permission.MODELS: frozenset({Level.ADMIN}),
    Permission.FILES: frozenset({Level.ADMIN}),
    Permission.ACCESS: frozenset({Level.ADMIN}),
}
ABOUT = {
    Level.REVIEWER: "their own queue or survey, and nothing else",
    Level.VIEWER: "reads every result",
    Level.ANALYST: "declares, runs within a budget, decides",
    Level.ADMIN: "models, files, deletion, access",
}


def with_article(level: Level) -> str:
    """ "an admin"."""
    return f"{'an' if level[:1] in 'aeiou' else 'a'} {level}"
