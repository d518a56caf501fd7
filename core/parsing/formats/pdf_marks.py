"""Read what people wrote on a PDF: form values and annotations; and name its attached files and its XFA form."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, cast

import pypdfium2.raw as raw  # pyright: ignore[reportMissingTypeStubs]  # generated from C headers, without stubs

from muisti.core.parsing.parsed import About

NOTES = 1_000  # annotations of a page that are read
NOTE = 20_000  # characters of one
OPTIONS = 200  # of a list that are looked at
NAMED = 20  # attached files that a note lists
_BUTTONS = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_LISTS = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
_XFA = (raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND)


def note_besides(document: Any, about: About) -> None:
    """Name the files that are attached to a document, and its form of the kind XFA, none of which is read."""
    count = raw.FPDFDoc_GetAttachmentCount(document.raw)
    handles = (raw.FPDFDoc_GetAttachment(document.raw, number) for number in range(min(count, NAMED)))
    if names := [_string(raw.FPDFAttachment_GetName, handle) or "one without a name" for handle in handles]:
        more = f" and {count - NAMED} more" if count > NAMED else ""
        about.note(f"Files attached to the PDF were not read: {', '.join(names)}{more}.")
    if raw.FPDF_GetFormType(document.raw) in _XFA:
        about.note("The PDF has a form of the kind XFA, which was not read; only what its pages show was.")


def marks(page: Any, document: Any, about: About) -> Iterator[str]:
    """Yield what people wrote on a page: the values of form fields, and the texts of annotations."""
    count = raw.FPDFPage_GetAnnotCount(page.raw)
    if count > NOTES:
        about.note(f"A page has {count:,} annotations; the first {NOTES:,} were read.")
    form = document.formenv.raw if document.formenv is not None else None
    for number in range(min(count, NOTES)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, number)
        if not annotation:
            continue
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET:
            # A page that was taken out of its form has the fields, and no form that knows them.
            value = _value(form, annotation) if form else _string(raw.FPDFAnnot_GetStringValue, annotation, b"V")
            name = _string(raw.FPDFAnnot_GetFormFieldName, form, annotation) if form else ""
            if value and value != "Off":
                yield f"{name or _string(raw.FPDFAnnot_GetStringValue, annotation, b'T') or 'Field'}: {value}"
        elif text := _string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents"):
            author = _string(raw.FPDFAnnot_GetStringValue, annotation, b"T")
            yield f"{author or 'Note'}: {text}"
        raw.FPDFPage_CloseAnnot(annotation)


def _value(form: Any, annotation: Any) -> str:
    """Return what a field is filled with; empty for an empty one and a box that is not ticked."""
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _BUTTONS:
        if not raw.FPDFAnnot_IsChecked(form, annotation):
            return ""
        value = _string(raw.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        return value or _string(raw.FPDFAnnot_GetFormFieldValue, form, annotation) or "Yes"
    if kind in _LISTS:
        chosen = [
            _string(cast(Any, raw.FPDFAnnot_GetOptionLabel), form, annotation, number)
            for number in range(min(raw.FPDFAnnot_GetOptionCount(form, annotation), OPTIONS))
            if raw.FPDFAnnot_IsOptionSelected(form, annotation, number)
        ]
        if any(chosen):
            return ", ".join(filter(None, chosen))
    return _string(raw.FPDFAnnot_GetFormFieldValue, form, annotation)


def _string(get: Callable[..., int], *arguments: Any) -> str:
    """Return a text that pdfium gives in UTF-16, without the spaces around it."""
    size = min(get(*arguments, None, 0), 1 << 20)
    buffer = ctypes.create_string_buffer(max(size, 2))
    written = ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR))
    if get is raw.FPDFAttachment_GetName:
        get(*arguments, written, size, ctypes.byref(ctypes.c_ulong()))
    else:
        get(*arguments, written, size)
    return buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0").strip()[:NOTE]
