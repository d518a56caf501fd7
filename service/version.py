"""The version of Muisti that runs."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """As the package says; `unknown` in a folder that was never installed."""
    try:
        return version("muisti")
    except PackageNotFoundError:
        return "unknown"
