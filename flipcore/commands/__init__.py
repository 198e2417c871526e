"""The command line, one file per command.

A file has the command's `HELP`, its options (`add_arguments`) and its action (`act`, which returns
the exit code). `flipcore.__main__` turns the errors of a command into a sentence and an exit code.
A new command is a file here and a name below.
"""

from importlib import import_module

# In the order of the help. `import` is a keyword of Python, so its file has a longer name.
_FILES = (
    "demo run models stats choices report publish match import_outputs audit check reread variants"
    " plugins access merge verify backup repair archive restore export"
)
COMMANDS = {name.partition("_")[0]: import_module(f"{__name__}.{name}") for name in _FILES.split()}
