"""Whether text in images can be recognised, which needs the extra `ocr`."""

from importlib.util import find_spec

_NEEDED = ("rapidocr", "onnxruntime")


def installed() -> bool:
    """Return whether the packages are there."""
    return all(find_spec(name) is not None for name in _NEEDED)


def refusal() -> str:
    """Return the sentences that follow why a file of images holds no text: what to do, or that nothing was found."""
    if installed():
        return "No text was recognised in it."
    return (
        "It holds no text. To recognise text in images, install the extra `ocr` where the server runs: "
        'pip install "muisti[ocr]".'
    )
