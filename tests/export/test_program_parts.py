"""The program in Python, which is written as one file and kept in parts: what a linter sees in the whole alone."""

import builtins
import symtable

from bellcrank.export.standalone.python import main_program


def tables(table):
    return [table, *(x for child in table.get_children() for x in tables(child))]


def names(text):
    """Names that a file defines or imports, those that it imports, and global ones that it reads."""
    top = symtable.symtable(text, "program.py", "exec")
    known = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    imported = {s.get_name() for s in top.get_symbols() if s.is_imported()}
    read = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    read |= {s.get_name() for t in tables(top)[1:] for s in t.get_symbols() if s.is_global() and s.is_referenced()}
    return known, imported, read


def test_a_name_that_is_missing_or_not_needed_is_seen():
    known, imported, read = names("import math, os\ndef f(x):\n    return g(x) + os.sep\nf(1)\n")
    assert read - known == {"g"} and imported - read == {"math"}


def test_parts_name_what_there_is_and_import_what_they_need():
    known, imported, read = names(main_program())
    assert len(known) > 60 and read - known - {*dir(builtins), "__file__"} == set()
    assert imported - read == set()
