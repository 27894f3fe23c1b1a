  subroutine @NAME@(@GIVEN@, v)
    real(dp), intent(in) :: @GIVEN@
    real(dp), intent(out) :: v(@VALUES@)
    real(dp) :: a(@WIDTH@), @REALS@
    integer :: i, @INTEGERS@
    @DECLARED@
    @CELLS@
    v = 0.0_dp
    @OUTSIDE@
    @PLACES@
    a = cells(:, @CELL@ + 1)
    @LINES@
    @RESULTS@
  end subroutine @NAME@
