"""What Flipscope stands on: `python -m tests.supply_chain licences`, `… audit` and `… lock`.

`licences` lists the licence of every package that requirements.txt brings and ends with 1 where one may not be combined with ours (MIT).
`audit` asks pip-audit for known vulnerabilities of what requirements.lock names; it ends with 1 where there is one, and with 0 and its
reason where they could not be looked up. `lock` writes requirements.lock with the hash of every file, for every system and Python, by uv.
"""

import importlib.metadata as installed
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
# permissive ones, and Mozilla's, which binds the files of that package alone
COMPATIBLE = re.compile(
    r"(MIT(-CMU)?|(new |modified |[0-3]-clause )?BSD|BSD-[0-3]-Clause|0BSD|Apache( Software|-2\.0| 2\.0)?|"
    r"Apache License,? (Version )?2\.0|ISC|PSF-2\.0|Python Software Foundation|CNRI-Python|MPL-2\.0|"
    r"Mozilla Public License 2\.0|Zlib|CC0-1\.0|Unlicense|HPND|LLVM-exception)( License)?",
    re.IGNORECASE,
)
BETWEEN = re.compile(r" (?:AND|OR|WITH) |[;,]|\(MPL 2\.0\)|[()]")


def requirements(path: Path = ROOT / "requirements.txt") -> list[Requirement]:
    """What a file of requirements asks for here."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    asked = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return [one for one in asked if one.marker is None or one.marker.evaluate()]


def closure(asked: Sequence[Requirement]) -> dict[str, installed.Distribution]:
    """Every package that is asked for, and what it asks for in turn, by name; all of it must be installed."""
    there: dict[str, installed.Distribution] = {}
    waiting = [(one.name, frozenset(one.extras)) for one in asked]
    seen = set()
    while waiting:
        name, extras = waiting.pop()
        if (canonicalize_name(name), extras) in seen:
            continue
        seen.add((canonicalize_name(name), extras))
        there[canonicalize_name(name)] = package = installed.distribution(name)
        for text in package.requires or ():
            one = Requirement(text)
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((one.name, frozenset(one.extras)))
    return dict(sorted(there.items()))


def licence_of(package: installed.Distribution) -> str:
    """What a package says of its licence: its expression, else its classifiers, else the first line of its field; "" for nothing."""
    about = package.metadata
    classifiers = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier", []) if one.startswith("License ::")]
    named = [one for one in classifiers if one != "OSI Approved"]
    return about.get("License-Expression") or " AND ".join(named) or (about.get("License") or "").strip().partition("\n")[0]


def is_compatible(licence: str) -> bool:
    """Whether all that a licence names is known to go together with MIT."""
    terms = [term.strip() for term in BETWEEN.split(licence) if term.strip()]
    return bool(terms) and all(COMPATIBLE.fullmatch(term) for term in terms)


def licences() -> int:
    wrong = 0
    for name, package in closure(requirements()).items():
        licence = licence_of(package)
        wrong += not is_compatible(licence)
        print(
            f"{name:<28}{package.version:<16}{licence or 'says nothing'}{'' if is_compatible(licence) else '   <- NOT COMPATIBLE'}"
        )
    return int(wrong > 0)


def audited(text: str) -> tuple[int, str]:
    """(exit status, sentence) of what pip-audit wrote as JSON. It calls a package that it could not look up no vulnerability, so those are
    counted."""
    try:
        packages = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, "Known vulnerabilities were NOT looked up: pip-audit could not reach its database."
    bad = [
        f"{one['name']} {one['version']}: {', '.join(flaw['id'] for flaw in one['vulns'])}"
        for one in packages
        if one.get("vulns")
    ]
    n_missing = sum("skip_reason" in one for one in packages)
    if bad:
        return 1, "Known vulnerabilities: " + "; ".join(bad)
    if n_missing == len(packages):
        why = packages[0]["skip_reason"] if packages else "the lock file names nothing"
        return 0, f"Known vulnerabilities were NOT looked up: {why}"
    return 0, f"No known vulnerability in {len(packages) - n_missing} packages; {n_missing} could not be looked up."


def audit() -> int:
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "audit.json"
        command = ["-m", "pip_audit", "-r", str(LOCK), "--require-hashes", "--disable-pip", "--progress-spinner", "off"]
        try:
            run = subprocess.run(
                [sys.executable, *command, "-f", "json", "-o", str(answer)], capture_output=True, text=True, timeout=240
            )
            why = run.stderr.strip().splitlines()[-1:] if not answer.exists() else []
        except subprocess.TimeoutExpired:
            why = ["no answer within 240 s"]
        status, sentence = audited(answer.read_text(encoding="utf-8") if answer.exists() else "")
    print(sentence, *why)
    return status


def lock() -> int:
    options = ["--generate-hashes", "--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "-o", str(LOCK)]
    return subprocess.run(
        [sys.executable, "-m", "uv", "pip", "compile", "-q", "requirements.txt", *options], cwd=ROOT
    ).returncode


if __name__ == "__main__":
    sys.exit({"licences": licences, "audit": audit, "lock": lock}[sys.argv[1]]())
