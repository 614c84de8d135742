"""Takes the repository's own pages into the site, at the paths that they have there.

So their links to each other hold. A source file that a page links to becomes a page of its
own, and of a link to a folder only the words stay.
"""

import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "docs/*.md", "docs/img/*", "abi/**/*.md")
RAW = (".json", ".wasm")  # what a program may want; Go would compile what ends in .go
PYTHON = ROOT / "python/src"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#:]+)\)")


def on_files(files, config):
    """Adds what is not of the site's own folder, and fills in the navigation."""
    taken = {str(p.relative_to(ROOT)): p for glob in PAGES for p in ROOT.glob(glob)}
    linked = {str(p.relative_to(ROOT)) for p in ROOT.glob("abi/schema/*.json")}

    def add(uri, **file):
        files.append(File.generated(config, uri, **file))

    def relink(page, match):
        words, target = match.groups()
        path = (page.parent / target).resolve()
        name = str(path.relative_to(ROOT))
        if name in taken or not path.exists():
            return match[0]
        if path.is_dir():
            return f"[{words}]({target}/README.md)" if f"{name}/README.md" in taken else words
        linked.add(name)
        return match[0] if path.suffix == ".wasm" else f"[{words}]({target}.md)"

    for uri, path in taken.items():
        if path.suffix == ".md":
            add(
                uri,
                content=LINK.sub(lambda match, page=path: relink(page, match), path.read_text()),
            )
        else:
            add(uri, abs_src_path=str(path))
    for uri in sorted(linked):
        path = ROOT / uri
        if path.suffix in RAW:
            add(uri, abs_src_path=str(path))
        if path.suffix != ".wasm":
            add(f"{uri}.md", content=source(path), inclusion=InclusionLevel.NOT_IN_NAV)
    for module in ("outlast", *(f"outlast.{name}" for name in public_modules())):
        add(f"reference/python/{module}.md", content=f"# {module}\n\n::: {module}\n")
    fill(config.nav, [file.src_uri for file in files.documentation_pages()])
    return files


def public_modules():
    """The Python package's modules that have no leading underscore."""
    return sorted(
        p.stem
        for p in (PYTHON / "outlast").iterdir()
        if p.stem[0] != "_" and p.suffix in ("", ".py")
    )


def source(path):
    """A page that shows a file. Searching would show all of it as one result."""
    language = path.suffix[1:].replace("mjs", "js")
    itself = f"[The file itself]({path.name})\n\n" if path.suffix in RAW else ""
    return (
        f"---\nsearch: {{exclude: true}}\n---\n# {path.name}\n\n{itself}"
        f"~~~~~~ {language}\n{path.read_text()}\n~~~~~~\n"
    )


def fill(nav, pages):
    """Puts the pages of a folder in the place of `folder/*`."""
    for section in nav:
        for title, entry in section.items():
            if isinstance(entry, list):
                fill(entry, pages)
            elif entry.endswith("/*"):
                within = [page for page in pages if page.startswith(entry[:-1])]
                if not within:
                    raise PluginError(f"{entry}: there are no such pages")
                section[title] = sorted(within, key=lambda page: page.removesuffix(".md"))
