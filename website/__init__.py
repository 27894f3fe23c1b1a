"""The documentation as a static site: `make site`, or `python -m website`.

Pages of docs/ are taken as they are; reference, gallery and benchmark tables are made here from the package, the
examples and the README. MkDocs turns all of it into HTML (`bellcrank[site]`), which needs no server and asks nothing
from other hosts.
"""
