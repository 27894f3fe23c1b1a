const @NAME@_cells = [
  @CELLS@
];
function @NAME@(@GIVEN@, v) {
  v >>= 3;
  @OUTSIDE@
  @PLACES@
  const a = @NAME@_cells[@CELL@];
  @LINES@
  @RESULTS@
}
