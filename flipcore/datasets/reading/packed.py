"""Packed files, gzip or zstd, which are recognised by name and content."""

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
    """Return the path without the suffix of a packed file: scores.csv for scores.csv.gz."""
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() in _BEGINNINGS else path


def suffix_of(path: str | Path) -> str:
    """Return the suffix of a file without that of packing: .csv for scores.csv.gz."""
    return without_packing(path).suffix.lower()


def is_packed(path: Path) -> bool:
    """Tell whether a file is packed, by its name and its content."""
    beginning = _BEGINNINGS.get(path.suffix.lower())
    if beginning is None:
        return False
    with path.open("rb") as stream:
        return stream.read(len(beginning)) == beginning


def opened(path: Path) -> IO[bytes]:
    """Open a file's bytes, unpacked."""
    if not is_packed(path):
        return path.open("rb")
    if _BEGINNINGS[path.suffix.lower()] == GZIP:
        return cast(IO[bytes], gzip.open(path))
    return unpacked_zstd(path)


def unpacked_zstd(path: Path) -> IO[bytes]:
    """Open the unpacked bytes of a zstd file."""
    import io

    import pyarrow

    return cast(IO[bytes], io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd")))


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """Raise BadInput for a damaged packed file while it is read."""
    try:
        yield
    except (zlib.error, EOFError, OSError) as error:
        if isinstance(error, OSError) and not is_packed(path):
            raise
        is_zstd = isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile)
        kind = "zstd" if is_zstd else "gzip"
        raise BadInput(
            f"{spoken_name(path)} is a damaged or half-written {kind} file ({error}); fetch it "
            "again."
        ) from None
