"""List the files in folders and zips as sources, with bounds so that none fills memory or disk."""

import atexit
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO

from flipcore.core import work_folders
from flipcore.core.errors import BadInput
from flipcore.core.folders import admit_unpacked, allowed
from flipcore.datasets.reading.packed import open_unpacked
from flipcore.datasets.reading.sheets import is_workbook

HEAD = 262_144  # bytes from the beginning of a file by which it is recognised
MAX_LINE = 64_000_000  # bytes of one line or one element; a larger record is refused
MAX_UNPACKED = 16_000_000_000  # bytes of all that is unpacked from one file
MAX_MEMBERS = 200_000
MAX_MEMBER = 1_000_000_000  # bytes of one member of a zip
_RATIO = 2_000  # most unpacked bytes per packed byte of a zip's member, against zip bombs
_UPLOADS = re.compile(r"logs-[0-9a-f]{12,16}")  # the generated name of a folder of uploads
_LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Source:
    """One file. `name` is its path for users; files of one log are in one `folder`."""

    path: Path
    name: str
    max_bytes: int = MAX_UNPACKED  # unpacked

    @cached_property
    def head(self) -> bytes:
        """The first HEAD bytes, unpacked."""
        with self.open() as stream:
            return stream.read(HEAD)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The names in a zip; empty for any other file."""
        if self.magic[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
            return ()
        try:
            with zipfile.ZipFile(self.path) as packed:
                names = packed.namelist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise BadInput(
                f"{self.name} is a damaged or half-written zip file ({error}); fetch it again."
            ) from None
        if len(names) > MAX_MEMBERS:
            raise BadInput(
                f"{self.name} holds {len(names):,} members; at most {MAX_MEMBERS:,} are read. "
                "Split it."
            )
        return tuple(names)

    @cached_property
    def magic(self) -> bytes:
        """The first eight bytes, as they are stored."""
        with self.path.open("rb") as stream:
            return stream.read(8)

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def folder(self) -> str:
        return self.name.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """The name without folder and endings."""
        stem = self.name.rpartition("/")[2].split(".json")[0]
        return stem.removesuffix(".eval").removesuffix(".csv").removesuffix(".parquet")

    def open(self) -> IO[bytes]:
        """Open the file's bytes; gzip and zstd are unpacked, up to `max_bytes`."""
        return open_unpacked(self.path, self.name, self.max_bytes)


def sources(paths: Sequence[str | Path]) -> list[Source]:
    """Return all files under these paths, also those within folders and zips.

    Raises BadInput for a missing path, and for a zip that is damaged or unpacks to too much.
    """
    files: list[Source] = []
    for location in paths:
        path = Path(location)
        allowed(path)
        if path.is_dir():
            base = path if _UPLOADS.fullmatch(path.name) else path.parent
            files += [
                Source(real_path, str(inner_path.relative_to(base)))
                for inner_path, real_path in _files_in(path)
            ]
        elif path.is_file():
            files.append(Source(path, path.name))
        else:
            raise BadInput(f"There is no file or folder {path.name!r}; check the path.")
    return list(chain.from_iterable(map(_unpack_zip, files)))


def _files_in(folder: Path) -> list[tuple[Path, Path]]:
    """Return (path, path without links) of each file in an allowed folder, in order."""
    pairs: list[tuple[Path, Path]] = []
    for inner_folder, _, names in os.walk(folder):
        real_folder = Path(inner_folder).resolve()
        for name in names:
            path = Path(inner_folder, name)
            if name.startswith(".") or not path.is_file():
                continue
            # only a link can lead out of the folder
            pairs.append((path, allowed(path) if path.is_symlink() else real_folder / name))
    return sorted(pairs)


def _unpack_zip(source: Source) -> list[Source]:
    """Return the files in a zip, or the file itself; Inspect logs and Excel files stay whole."""
    try:
        names = source.members
    except BadInput:
        return [source]  # the reader of the file will raise the error
    is_log = any(name in ("header.json", "_journal/start.json") for name in names)
    if not names or is_workbook(names) or is_log:
        return [source]
    state = source.path.stat()
    key = str(source.path.resolve()), source.name, state.st_mtime_ns, state.st_size
    if key not in _unpacked_zips:
        folder = work_folders.make("log")
        try:
            _unpacked_zips[key] = list(_unpack_into(folder, source))
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                reason = error.strerror or error
                problem = f"{source.name} could not be unpacked in {folder.parent} ({reason})."
                raise BadInput(
                    f"{problem} Make room there, or unpack it yourself and give the folder."
                ) from error
            raise
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # Readers check that a path is allowed, so the new folder must be allowed as its zip is.
        admit_unpacked(folder, {inner.path: inner.name for inner in _unpacked_zips[key]})
    return _unpacked_zips[key]


# by path, name, time and size of a zip: zips are read more than once, but unpacked once
_unpacked_zips: dict[tuple[str, str, int, int], list[Source]] = {}


def _unpack_into(folder: Path, source: Source) -> Iterator[Source]:
    total = 0
    with zipfile.ZipFile(source.path) as packed:
        for number, info in enumerate(packed.infolist()):
            is_hidden = info.filename.rpartition("/")[2].startswith(".")
            if info.is_dir() or is_hidden or "__MACOSX" in info.filename:
                continue
            total += info.file_size
            if total > MAX_UNPACKED:
                raise BadInput(
                    f"{source.name} unpacks to more than {MAX_UNPACKED / 1e9:.0f} GB; it is not "
                    "read."
                )
            path = folder / f"{number}{Path(info.filename).suffix[:9]}"
            path.write_bytes(member_bytes(source, info, MAX_MEMBER))
            yield Source(path, f"{source.stem.removesuffix('.zip')}/{info.filename}")


def member_bytes(source: Source, info: zipfile.ZipInfo, max_bytes: int = MAX_LINE) -> bytes:
    """Return one member of a zip: stored, deflated or zstd.

    Raises BadInput for a damaged member, another compression, and one that unpacks to too much.
    """
    member = f"{info.filename} in {source.name}"
    if info.file_size > max_bytes or info.file_size > 1_000_000 + _RATIO * max(
        1, info.compress_size
    ):
        raise BadInput(
            f"{member} would unpack from {info.compress_size:,} to {info.file_size:,} bytes; it "
            "is not read."
        )
    try:
        # read by hand, because the zipfile of Python 3.11 cannot unpack zstd
        with source.path.open("rb") as stream:
            stream.seek(info.header_offset)
            # a local header has 30 bytes, the last of them the lengths of name and extra field
            header = stream.read(30)
            n_name, n_extra = header[26:28], header[28:30]
            stream.seek(int.from_bytes(n_name, "little") + int.from_bytes(n_extra, "little"), 1)
            packed = stream.read(info.compress_size)
        data = _decompress(packed, info)
    except (OSError, ValueError, zlib.error, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{member} is damaged ({reason}).") from None
    if len(data) != info.file_size or (info.CRC and zlib.crc32(data) != info.CRC):
        raise BadInput(f"{member} is damaged: it does not unpack to what the zip says of it.")
    return data


def _decompress(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1:
        raise ValueError("it is encrypted")
    if info.compress_type == zipfile.ZIP_STORED:
        return packed
    # Read one byte more than the zip states, to notice a member that unpacks to too much.
    if info.compress_type == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-15).decompress(packed, info.file_size + 1)
    if info.compress_type == 93:  # zstd
        import pyarrow

        with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
            return stream.read(info.file_size + 1)
    raise ValueError(f"it is packed by method {info.compress_type}; deflate and zstd are read")


def lfs_pointer(source: Source) -> str:
    """Return the message for a file that only points to a large file; "" for a real one."""
    if not source.head.startswith(_LFS):
        return ""
    return (
        f"{source.name} is a git-LFS pointer, not the file itself. Fetch the file with `git "
        "lfs pull` and import that."
    )
