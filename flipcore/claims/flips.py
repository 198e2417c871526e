"""Claims about flips: every sentence that asserts something of them, each with its error rate."""

from __future__ import annotations

from flipcore.claims.claim import Assertion

ASSERTIONS: tuple[Assertion, ...] = ()
