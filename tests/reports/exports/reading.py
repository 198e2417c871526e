"""What a report holds: its text and every file that its links hold."""

import base64
import gzip
import html
import re


def files_in(report: str) -> dict[str, str]:
    """Name -> content of every file that can be saved from the report."""
    links = re.findall(r'href="data:[^"]*?base64,([^"]*)" download="([^"]+)"', report)
    raw = {html.unescape(name): base64.b64decode(content) for content, name in links}
    return {name: (gzip.decompress(one) if name.endswith(".gz") else one).decode() for name, one in raw.items()}


def everything_in(report: str) -> str:
    """All that can be read in it, files included."""
    return "\n".join([html.unescape(report), *files_in(report).values()])
