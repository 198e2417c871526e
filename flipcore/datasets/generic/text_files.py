"""Split plain texts into passages to be continued: a .txt or .xml file, a folder of them, or a zip.

A passage ends with a sentence and has about `n_words` words. The rest of a text is a
passage if it has at least half as many. `file` selects files by a part of their name.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed, spoken_name
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.rows import MAX_UPLOAD_MB, Row

SUFFIXES = (".txt", ".xml")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])[\"'’”)]*\s+")
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class TextFiles(Dataset):
    """A loader whose options are `n_words` (20 to 2,000) and `file`."""

    def rows(self, path: str | None = None, **options) -> Iterator[Row]:
        """Return the passages of the texts at `path`. Raises BadInput for other options."""
        unknown = sorted(set(options) - {"n_words", "file"})
        if unknown:
            raise BadInput(f"{self.name} has no option {unknown[0]!r}; it takes n_words and file.")
        n_words = options.get("n_words", 120)
        if not isinstance(n_words, int) or not 20 <= n_words <= 2_000:
            raise BadInput(
                f"A passage of {n_words!r} words was asked for; give a whole number from 20 to "
                "2,000."
            )
        if not path:
            raise BadInput(
                "Texts need a local path: a .txt or .xml file, a folder, or a zip of them."
            )
        return self._passages(allowed(path), n_words, str(options.get("file", "")))

    def _passages(self, path: Path, n_words: int, file: str) -> Iterator[Row]:
        texts = [(name, text) for name, text in _texts(path) if file.lower() in name.lower()]
        if not texts:
            raise BadInput(
                f"{spoken_name(path)} holds no {' or '.join(SUFFIXES)} file"
                + (f" named like {file!r}." if file else ".")
            )
        for name, text in texts:
            for number, passage in enumerate(passages(text, n_words), start=1):
                yield Row(number, {"text": passage}, file=name if len(texts) > 1 else "")


def item(row: Row) -> Item:
    """Make an item from a passage; its key is the file and the passage's number, `row.line`."""
    title = row.file.rsplit(".", 1)[0]
    return Item.make(
        dataset="text",
        key=f"{title}-{row.line}" if title else f"{row.line}",
        kind="completion",
        question=row.values["text"],
        category=title,
    )


def passages(text: str, n_words: int) -> list[str]:
    """Split a text into passages of whole sentences; all but the last have `n_words` or more."""
    blocks: list[str] = []
    sentences: list[str] = []
    for sentence in _SENTENCE_END.split(" ".join(text.split())):
        sentences.append(sentence)
        if sum(len(sentence.split()) for sentence in sentences) >= n_words:
            blocks.append(" ".join(sentences))
            sentences = []
    remainder = " ".join(sentences)
    return [*blocks, remainder] if len(remainder.split()) >= n_words / 2 else blocks


def _texts(path: Path) -> list[tuple[str, str]]:
    """Return (file name, text) of each text in a file, a folder or a zip."""
    try:
        if path.is_dir():
            files = sorted(
                allowed(file) for file in path.iterdir() if file.suffix.lower() in SUFFIXES
            )
            return [(file.name, _decode(file.name, _read_bytes(file))) for file in files]
        if path.suffix.lower() == ".zip":
            return _texts_in_zip(path)
        if path.suffix.lower() not in SUFFIXES:
            raise BadInput(
                f"{spoken_name(path)} is not of a known kind; texts end in {', '.join(SUFFIXES)} "
                "or come as a zip."
            )
        return [(path.name, _decode(spoken_name(path), _read_bytes(path)))]
    except (OSError, zipfile.BadZipFile) as error:
        raise BadInput(f"{spoken_name(path)} could not be read: {error}.") from error


def _texts_in_zip(path: Path) -> list[tuple[str, str]]:
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        members = [info for info in infos if Path(info.filename).suffix.lower() in SUFFIXES]
        _check_size(spoken_name(path), sum(member.file_size for member in members))
        return [
            (Path(member.filename).name, _decode(member.filename, archive.read(member)))
            for member in members
        ]


def _check_size(name: str, n_bytes: int) -> None:
    if n_bytes > MAX_UPLOAD_MB * 1_000_000:
        raise BadInput(
            f"{name} has {n_bytes / 1e6:,.0f} MB of text and the limit is {MAX_UPLOAD_MB} MB; "
            "split it."
        )


def _read_bytes(path: Path) -> bytes:
    _check_size(spoken_name(path), path.stat().st_size)
    return path.read_bytes()


def _decode(name: str, data: bytes) -> str:
    """Decode a text in UTF-8, or else in Latin-1, and remove the tags of XML."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "\x00" in text:
        raise BadInput(f"{name} is no text: it holds zero bytes. Save it as UTF-8.")
    return _TAG.sub(" ", text) if name.lower().endswith(".xml") else text


LOADER = TextFiles(
    "text",
    "Text files",
    about="Passages of a text of your own, to be continued: .txt, .xml, a folder or a zip.",
    kind="completion",
    item=item,
)
