"""AUTOSIM decks: the Lisp forms of Sayers (1990), Appendix A, read without executing anything.

In:  a file DECK.lsp and, where it calls external routines, their Python functions. Out: a System, or the Python model
that makes the same System.

The modules, each importing only from those before it: `reader` (text to data), `macros` (forms to arguments), `names`
(what names stand for), `fstring` (formulas), `values` (arguments to values), `deck` (calls on a System), `machine`
(questions to the System so far), `settings`, `state` (a deck being read), `bodies`, `forces`, `routines`, `outputs`
(macros), `interpret` (the way through all forms), `files` (decks and routines from files), `translate` (calls to
Python text).
"""

from bellcrank.formats.decks.files import load_deck, read_deck_file
from bellcrank.formats.decks.translate import translate

__all__ = ["load_deck", "read_deck_file", "translate"]
