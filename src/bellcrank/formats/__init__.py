"""Files of other programs: AUTOSIM decks."""
