from witan.fixtures import (
    each,
    each_with_http,
    latest,
    loaded,
    oldest,
    quiet,
    release,
    uninstalled,
    variant,
    variant_with_http,
)

__all__ = [
    "each",
    "each_with_http",
    "latest",
    "loaded",
    "oldest",
    "quiet",
    "release",
    "uninstalled",
    "variant",
    "variant_with_http",
]
