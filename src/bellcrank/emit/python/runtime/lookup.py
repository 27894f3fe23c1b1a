@NAME@_cells = (
    @CELLS@
)


def @NAME@(@GIVEN@):
    @OUTSIDE@
    @PLACES@
    a = @NAME@_cells[@CELL@]
    @LINES@
    return (@RESULTS@)
