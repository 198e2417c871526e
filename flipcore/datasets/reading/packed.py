"""Packed files: gzip and zstd, told by their name and their content alike."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BEGINNINGS = {".gz": GZIP, ".zst": ZSTD, ".zstd": ZSTD}


def without_packing(path: str | Path) -> Path:
    """Return the name of what a packed file holds: scores.csv of scores.csv.gz."""
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() in _BEGINNINGS else path


def suffix_of(path: str | Path) -> str:
    """Return the suffix of a table, packed or not: .csv of scores.csv.gz."""
    return without_packing(path).suffix.lower()


def is_packed(path: Path) -> bool:
    """Return whether a file is packed by its name and by its content."""
    beginning = _BEGINNINGS.get(path.suffix.lower())
    if beginning is None:
        return False
    with path.open("rb") as stream:
        return stream.read(len(beginning)) == beginning


def opened(path: Path) -> IO[bytes]:
    """Open a file's bytes, unpacked where they are packed."""
    if not is_packed(path):
        return path.open("rb")
    if _BEGINNINGS[path.suffix.lower()] == GZIP:
        return cast(IO[bytes], gzip.open(path))
    return unpacked_zstd(path)


def unpacked_zstd(path: Path) -> IO[bytes]:
    """Open the bytes that a zstd file holds."""
    import io

    import pyarrow

    return cast(IO[bytes], io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd")))


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """Say in a sentence that a packed file is damaged."""
    try:
        yield
    except (zlib.error, EOFError, OSError) as error:
        if isinstance(error, OSError) and not is_packed(path):
            raise
        kind = (
            "zstd"
            if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile)
            else "gzip"
        )
        raise BadInput(
            f"{spoken_name(path)} is a damaged or half-written {kind} file ({error}); fetch it "
            "again."
        ) from None
