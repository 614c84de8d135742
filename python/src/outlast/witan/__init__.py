"""witan-core with its retries decided by the plugin.

:func:`install` puts the plugin in place of the retry loop, the classifiers, the
failure text and the backoff helpers of the Python client witan-core. What its
callers see stays as it was: the same attempts, delays, repairs and exceptions.
The policy is ``witan-core``, a document, so that it can be read, checked against
measured outages, and shared with programs in other languages.

Nothing of witan-core or of the plugin is imported before :func:`install`, and
the plugin is loaded at the first failure.
"""

from __future__ import annotations

from ._documents import document
from ._install import install, installed, uninstall
from ._sources import UnsupportedVersionError

__all__ = ["UnsupportedVersionError", "document", "install", "installed", "uninstall"]
