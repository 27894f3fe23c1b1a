"""Stand-alone programs: source, Makefile and default input of a program that reads, runs and writes
by itself.

In:  a `Program` and its `Setup` (keywords, units, labels, values). Out: the texts of all files, by
name. The equations come from the printers of `emit`; what surrounds them is the same for all
models: `templates`.
"""
