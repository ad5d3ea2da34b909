"""PDF with a text layer: `lines` takes lines from its pages, `layout` puts them in reading order, `tables` reads rows.

A file can make PDFium crash, so all this runs in a process of its own (`base.apart`).
"""
