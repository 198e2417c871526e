"""Streamlit's own command with fewer permutations on the Holdout page: what it shows of them is the same, a tenth of the work; and with a
content policy under which the browser's driver may evaluate what it waits for. `EXACT` keeps the policy as it is."""

import os
import sys

FEW_PERMUTATIONS = 19
EXACT = "FLIPSCOPE_TEST_EXACT_POLICY"

if __name__ == "__main__":
    from streamlit.web.cli import main

    from flipcore.invitations.gate import HEADERS
    from flipcore.reports.holdout import START

    START["permutations"] = FEW_PERMUTATIONS
    if EXACT not in os.environ:
        policy = HEADERS["Content-Security-Policy"]
        HEADERS["Content-Security-Policy"] = policy.replace("script-src ", "script-src 'unsafe-eval' ")
    sys.exit(main())
