"""`python -m flipcore audit STUDY`: what an imported log says, and whether it holds."""

import argparse

from flipcore.commands.opening import add_study, on_study
from flipcore.store.connection import Store

HELP = "what an imported log says, and whether it holds"
add_arguments = add_study


@on_study
def act(store: Store, study_id: str, options: argparse.Namespace) -> int:
    """Prints the audit."""
    from flipcore.reports.audit import audit

    print(audit(store, study_id).text())
    return 0
