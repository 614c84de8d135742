"""Makes calls with witan-core's own client and its own retry loop.

    python3 witan.py FOLDER

Each line of standard input is a call, ``read|write URL GRAPH``, which a thread
makes; a line of standard output says how it ended, ``GRAPH ok`` or ``GRAPH`` and
the error's class. witan-core is fetched from PyPI by its hash into the folder,
and nothing else is installed: ``ready`` is said once it is imported.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import threading
from pathlib import Path

VERSION = "0.45.0"
SHA256 = "922895d61d24b00955199316fc2d09eadba14e03db542731b4c22918acec6adb"
"""Of its source distribution."""


def fetch(folder: Path) -> Path:
    """Download witan-core and unpack it."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"witan-core=={VERSION} --hash=sha256:{SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    pip += ["--no-binary", "witan-core", "--dest", str(folder), "--requirement", str(wanted)]
    subprocess.run(pip, check=True)
    name = f"witan_core-{VERSION}"
    with tarfile.open(folder / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


def main() -> None:
    """Make the calls."""
    folder = Path(sys.argv[1])
    sys.path.insert(0, str(fetch(folder)))
    from witan_core.omnigraph import OmnigraphClient

    (folder / "q.gq").write_text("query all() { Person { slug } }\n")
    print("ready", flush=True)

    def call(kind: str, url: str, graph: str) -> None:
        client = OmnigraphClient(url, folder, graph_id=graph)
        try:
            (client.read if kind == "read" else client.change)("q.gq", "all", {})
            end = "ok"
        except Exception as e:  # noqa: BLE001 - whatever it is, the call did not survive
            end = type(e).__name__
        sys.stdout.write(f"{graph} {end}\n")
        sys.stdout.flush()

    for line in sys.stdin:
        threading.Thread(target=call, args=line.split()).start()


if __name__ == "__main__":
    main()
