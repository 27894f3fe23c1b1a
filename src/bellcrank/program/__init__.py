"""The program as data: straight-line functions, operation counts, passes, exact derivatives."""
