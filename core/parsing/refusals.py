"""Sentences of refusals that several readers use."""

OCR = (
    "It holds no text. Muisti recognises no text in images: run optical character recognition first, "
    "for example `ocrmypdf`."
)
