"""Packed files, gzip or zstd, which are recognised by name and content."""

import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any

from flipcore.core.errors import BadInput

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


def open_unpacked(path: Path, name: str, max_bytes: int) -> IO[bytes]:
    """Open a file's bytes; those of gzip and zstd, by the content, are unpacked.

    Reading them raises BadInput, with the file's `name`, for a damaged file and for one that
    unpacks to more than `max_bytes`.
    """
    with path.open("rb") as stream:
        beginning = stream.read(len(ZSTD))
    if beginning[: len(GZIP)] == GZIP:
        return io.BufferedReader(_Unpacked(gzip.open(path), name, "gzip", max_bytes))
    if beginning == ZSTD:
        return io.BufferedReader(_Unpacked(_open_zstd(path), name, "zstd", max_bytes))
    return path.open("rb")


def _open_zstd(path: Path) -> io.BufferedReader:
    import pyarrow

    return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"))


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a packed file of a `kind`."""

    def __init__(self, stream: Any, name: str, kind: str, max_bytes: int) -> None:
        self._stream, self._name, self._kind = stream, name, kind
        self._max_bytes = self._n_bytes_remaining = max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read1(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(
                f"{self._name} is a damaged or half-written {self._kind} file ({error}); fetch it "
                "again."
            ) from None
        self._n_bytes_remaining -= len(data)
        if self._n_bytes_remaining < 0:
            raise BadInput(
                f"{self._name} unpacks to more than {self._max_bytes / 1e6:,.0f} MB; unpack and "
                "split it."
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
