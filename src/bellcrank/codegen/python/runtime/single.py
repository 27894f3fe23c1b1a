def single(function):
    """A routine that returns one number, which it may give as a tuple."""

    def value(*arguments):
        found = function(*arguments)
        return found[0] if isinstance(found, tuple) else found

    return value
