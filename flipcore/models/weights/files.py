"""Where the weights of an open model are, what they are known by, and whether they can be computed here.

Nothing is fetched and no code of a checkpoint is run: a name of the hub is looked up in the cache of this machine, and only
safetensors files are read.
"""

import hashlib
import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flipcore.access.acting import is_access_on
from flipcore.core import folders
from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.records import digest

CONFIG = "config.json"
_WHOLE = 64 * 2**20  # bytes of a file up to which all of it is hashed
_N_BLOCKS, _BLOCK = 256, 2**18


def check_packages() -> None:
    """Raises MissingPackage where torch or transformers is not installed."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise MissingPackage(
            f"Open weights need {' and '.join(missing)} here, not installed: run `pip install -r requirements-transformers.txt`."
        )


def folder_of(model: str) -> Path:
    """The folder that holds a checkpoint: the one named, or the snapshot of a name of the hub in this machine's cache. On a network
    a named folder must be one that the admin allows. Raises BadInput with what to do."""
    path = Path(model).expanduser()
    if _is_folder(path):
        folder = folders.allowed(path) if is_access_on() else path.resolve()
    else:
        folder = _cached(model)
    if not (folder / CONFIG).is_file():
        raise BadInput(f"{model[:200]!r} holds no {CONFIG}, so it is no checkpoint. Name the folder of a model.")
    if not sorted(folder.glob("*.safetensors")):
        raise BadInput(f"{model[:200]!r} holds no .safetensors file, the only kind of weights that is read. Convert it first.")
    return folder


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # no name that a folder could have
        return False


def _cached(model: str) -> Path:
    from huggingface_hub import try_to_load_from_cache

    try:
        config = try_to_load_from_cache(model, CONFIG)
    except ValueError:  # no name that the hub could have
        config = None
    if not isinstance(config, str):
        raise BadInput(
            f"{model[:200]!r} is neither a folder nor a model in the Hugging Face cache of this machine. Fetch it first by "
            f"`hf download NAME`, or name the folder that holds it."
        )
    return Path(config).parent


def config_of(folder: Path, name: str = CONFIG) -> dict[str, Any]:
    """What the checkpoint says of itself; BadInput where it cannot be read."""
    try:
        config = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"The {name} of {folder.name!r} cannot be read: {error}.") from error
    if not isinstance(config, dict):
        raise BadInput(f"The {name} of {folder.name!r} holds no table.")
    return config


def weights_digest(folder: Path) -> str:
    """12 characters that change with the weights, the tokenizer and the configuration. Of a large file 256 evenly spaced blocks are
    read: training changes numbers everywhere, and reading all would take minutes."""
    names = ("*.safetensors", CONFIG, "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "chat_template*")
    paths = sorted({path for name in names for path in folder.glob(name) if path.is_file()})
    return digest(*((path.name, _file_digest(path, path.stat().st_size, path.stat().st_mtime_ns)) for path in paths))[:12]


@lru_cache(maxsize=512)
def _file_digest(path: Path, n_bytes: int, changed_ns: int) -> str:
    """Read once while size and time of change stay."""
    text = hashlib.sha256(str(n_bytes).encode())
    with path.open("rb") as file:
        if n_bytes <= _WHOLE:
            text.update(file.read())
        else:
            for block in range(_N_BLOCKS):
                file.seek(block * (n_bytes - _BLOCK) // (_N_BLOCKS - 1))
                text.update(file.read(_BLOCK))
    return text.hexdigest()
