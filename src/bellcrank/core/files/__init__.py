"""Files: time histories and parameters as text and binary data. Pure readers and writers over plain
records.

In:  a `Record` (channels over time) or the lines of a parameter file. Out: files, and the same back
again. What a run or a model makes of them is left to others.
"""
