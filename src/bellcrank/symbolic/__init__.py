"""Expressions and vectors of expressions; no mechanics."""
