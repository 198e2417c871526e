"""The command line, one file a command: its `HELP`, its options (`add_arguments`) and what it does (`act`, the exit code).

`opening` opens and closes the database for all of them; an error that one of them raises becomes its sentence and its exit code in
`flipcore.__main__`. A new command is a file here and a line below.
"""

from collections.abc import Mapping
from typing import Any

from flipcore.commands import (
    access,
    archive,
    audit,
    check,
    demo,
    export,
    import_outputs,
    match,
    merge,
    models,
    plugins,
    publish,
    report,
    reread,
    restore,
    run,
    stats,
    variants,
    verify,
)

# name -> module, in the order of the help
COMMANDS: Mapping[str, Any] = {
    "demo": demo,
    "run": run,
    "models": models,
    "stats": stats,
    "report": report,
    "publish": publish,
    "match": match,
    "import": import_outputs,
    "audit": audit,
    "check": check,
    "reread": reread,
    "variants": variants,
    "plugins": plugins,
    "access": access,
    "merge": merge,
    "verify": verify,
    "archive": archive,
    "restore": restore,
    "export": export,
}
