"""The run-time of every model, in C: real files, which a model's own text precedes."""
