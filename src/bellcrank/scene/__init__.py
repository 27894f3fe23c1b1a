"""What a model looks like: primitives bound to bodies and points, and pictures and animations of
them."""
