"""Programs made callable: compilers, cache, loading; C and Python behind one protocol; user
functions."""
