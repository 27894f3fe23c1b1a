"""Everything a model shows to the outside, by name, and the listing of it."""
