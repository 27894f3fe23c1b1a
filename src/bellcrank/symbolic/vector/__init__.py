"""Frames, vectors, dyadics and rotations, basis-free; the worksheet of intermediate results."""
