"""Independent numerical evaluation of a description, and the check of derived equations against
it."""
