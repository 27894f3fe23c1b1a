"""Live pages: a model that runs in a browser, in one file."""
