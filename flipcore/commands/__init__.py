"""The command line, one file per command.

A file has the command's `HELP`, its options (`add_arguments`) and what it does (`act`, the exit
code).

`opening` opens and closes the database for all of them; an error that one of them raises becomes
its sentence and its exit code in `flipcore.__main__`. A new command is a file here and a name
below.
"""

from importlib import import_module

# In the order of the help; `import` is a word of the language, so that its file has a longer name.
_FILES = (
    "demo run models stats choices report publish match import_outputs audit check reread variants"
    " plugins access merge verify backup repair archive restore export"
)
COMMANDS = {name.partition("_")[0]: import_module(f"{__name__}.{name}") for name in _FILES.split()}
