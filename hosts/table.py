"""Writes what the hosts have printed, and the recipes, into a page: table.py SAID PAGE

The page has a line ``<!-- NAME -->`` before and ``<!-- end -->`` after each part that is
written here: ``facts``, ``results``, or the path of a file to be shown.
"""

import re
import sys
from pathlib import Path

HOSTS = {
    "outlast": "outlast's Go host",
    "go": "Extism's Go SDK",
    "python": "Python",
    "node": "Node",
    "rust": "Rust",
    "java": "Java",
    "browser": "browser page",
}
ROWS = {
    "code": "an export returns 7, with an output",
    "exception": "a host function raises",
    "cancelled": "`outlast_sleep` answers `cancelled`",
    "cancel": "the SDK's own cancel, while a host function waits",
    "clock": "the clock that WASI gives the plugin",
    "shared": "one instance, four threads",
    "apart": "four threads, an instance each",
    "missing": "a host function is missing",
}
LANGUAGES = {".rs": "rust", ".java": "java", ".go": "go", ".py": "python", ".js": "js"}


def lines(said: Path, start: str) -> list[str]:
    found = said.read_text().splitlines() if said.exists() else []
    return [line.removeprefix(start) for line in found if line.startswith(start)]


def table(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def facts(said: Path) -> str:
    """A section for each row: a table of seven columns would be too wide to read."""
    parts = []
    for row, title in ROWS.items():
        cells = []
        for host, name in HOSTS.items():
            words = lines(said / host, f"fact: {row}: ")
            cells.append([name, words[0].replace("|", "\\|") if words else "not known"])
        parts.append(table([f"**{title}**", "what happens"], cells))
    return "\n\n".join(parts)


def results(said: Path) -> str:
    rows = []
    for host, name in HOSTS.items():
        text = (said / host).read_text() if (said / host).exists() else ""
        played = re.findall(r"^(\d+ passed, \d+ failed)$", text, re.MULTILINE)
        recipe = "passed" if "recipe: passed" in text else ""
        version, date = (lines(said / host, start) for start in ("versions: ", "date: "))
        # A host's run fails with a case that fails, and how many there are changes.
        cases = "passed" if played else "in its own tests"
        rows.append([name, cases, recipe, *version, *date])
    return table(["host", "cases", "recipe", "versions", "day"], [r for r in rows if len(r) == 5])


def shown(path: str) -> str:
    file = Path(path)
    return f"```{LANGUAGES[file.suffix]}\n{file.read_text().rstrip()}\n```"


def main() -> None:
    said, page = Path(sys.argv[1]), Path(sys.argv[2])

    def part(match: re.Match[str]) -> str:
        name = match[1]
        made = {"facts": facts, "results": results}
        body = made[name](said) if name in made else shown(name)
        return f"<!-- {name} -->\n{body}\n<!-- end -->"

    text = page.read_text("utf-8")
    page.write_text(
        re.sub(r"<!-- (\S+) -->\n.*?<!-- end -->", part, text, flags=re.DOTALL), "utf-8"
    )


main()
