from witan.fixtures import latest, loaded, oldest, quiet, release, uninstalled

__all__ = ["latest", "loaded", "oldest", "quiet", "release", "uninstalled"]
