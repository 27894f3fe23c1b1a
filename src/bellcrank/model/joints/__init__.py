"""Joints: what a body does relative to its parent. `joint` says what every stage may ask; the other
files are kinds."""
