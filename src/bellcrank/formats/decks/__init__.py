"""AUTOSIM decks: the Lisp forms of Sayers (1990), Appendix A, read without executing anything.

In:  a file DECK.lsp and, where it calls user functions, their Python functions. Out: a System, or
the Python model that makes the same System.

Each module imports only from those before it: `reader` (text to data), `macros` (forms to
arguments), `names`, `fstring` (formulas), `values` (arguments to values), `deck` (calls on a
System), `machine` (the System so far), `settings`, `state` (a deck being read), `bodies`, `forces`,
`routines`, `outputs`, `interpret`, `files`, `translate_to_python`.
"""

from bellcrank.formats.decks.files import load_deck, read_deck_file
from bellcrank.formats.decks.translate import translate_to_python

__all__ = ["load_deck", "read_deck_file", "translate_to_python"]
