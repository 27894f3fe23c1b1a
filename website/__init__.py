"""The documentation as a static site: `make site`, or `python -m website`.

Pages of docs/ are taken as they are; reference and gallery are made here from the package and the
examples. MkDocs turns all of it into HTML (`bellcrank[site]`), which needs no server and asks
nothing from other hosts.
"""
