"""The description as records, checked and resolved into a mechanism: bodies, joints, names in
formulas."""
