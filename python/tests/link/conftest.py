from witan.fixtures import latest

__all__ = ["latest"]
