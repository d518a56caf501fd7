"""Formats are known by content; the name decides between texts only."""

import pytest

from muisti.core.parsing.detect import HEAD, Format, detect
from tests.core.parsing import samples

MAIL = b"From: Ada <ada@example.org>\nTo: bo@example.org\nSubject: Hi\n\nText\n"
BY_CONTENT = [
    (samples.pdf("x"), Format.PDF),
    (samples.docx(samples.word_document("")), Format.ZIP),
    (samples.encrypted_office(), Format.UNKNOWN),
    (b"<!-- a comment -->\n<!DOCTYPE html><html></html>", Format.HTML),
    (b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', Format.HTML),
    (b'{"cells": [], "nbformat": 4}', Format.NOTEBOOK),
    (MAIL, Format.EMAIL),
    (b"From ada@example.org Thu Jan  1 00:00:00 2026\n" + MAIL, Format.MAILBOX),
    (b"\x1f\x8b\x08" + bytes(20), Format.COMPRESSED),
    (b"BZh91AY", Format.COMPRESSED),
    (b"\xfd7zXZ\0", Format.COMPRESSED),
    (b"\x28\xb5\x2f\xfd", Format.COMPRESSED),
    (bytes(257) + b"ustar", Format.TAR),
    (b"\x89PNG\r\n\x1a\n" + bytes(20), Format.UNKNOWN),
    (b"MZ\x90\0\3", Format.UNKNOWN),
    (b"words and a \0 byte", Format.UNKNOWN),
]


@pytest.mark.parametrize(("data", "form"), BY_CONTENT, ids=lambda one: one.value if isinstance(one, Format) else "")
@pytest.mark.parametrize("name", ["", "photo.jpg", "a.zip"])
def test_the_content_decides(data: bytes, form: Format, name: str):
    assert detect(data[:HEAD], name) is form


@pytest.mark.parametrize(("data", "name", "form"), [
    (b"Just words.", "", Format.TEXT),
    (b"Just words.", "a.md", Format.MARKDOWN),
    (b"a;b", "a.csv", Format.CSV),
    (b"From: me\nTo: you\n", "notes.md", Format.MARKDOWN),
    (b"<html>", "page.md", Format.MARKDOWN),
    (b"<div>part</div>", "part.html", Format.HTML),
    (b"x = 1", "a.py", Format.CODE),
    (b"#!/usr/bin/env -S python3 -u\nx = 1", "run", Format.CODE),
    (b"FROM python:3.11\n", "Dockerfile", Format.CODE),
    (b"MZ is a town", "", Format.TEXT),
    (b"BM25 ranks", "", Format.TEXT),
    (b'{"a": 1}', "a.json", Format.CODE),
    (b"w\0i\0d\0e\0", "", Format.TEXT),
])  # fmt: skip
def test_the_name_decides_between_texts(data: bytes, name: str, form: Format):
    assert detect(data, name) is form
    assert detect(b"a,b", "upload", "text/csv; charset=utf-8") is Format.CSV
    assert detect(samples.pdf("x"), "upload", "text/csv") is Format.PDF
