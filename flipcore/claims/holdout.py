"""Claims about holdout: every sentence that asserts something of it, each with its error rate."""

from __future__ import annotations

from flipcore.claims.claim import Assertion

ASSERTIONS: tuple[Assertion, ...] = ()
