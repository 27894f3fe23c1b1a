@IF EVENTS@
  ! The row of a state; whose memory may change: 2, or 0 of none.
  subroutine event_row(at, y, whose, row)
    real(dp), intent(in) :: at, y(n_s)
    integer, intent(in) :: whose
    real(dp), intent(out) :: row(width)
@ELSE@
  subroutine record(at, y, row)
    real(dp), intent(in) :: at, y(n_s)
    real(dp), intent(out) :: row(1 + n_channels)
@END@
    t = at
    row(1) = at
    row(2:1 + n_s) = y
@IF INPUTS@
    call set_inputs()
@END@
    live = @WHOSE@
    call outputs(y, row(2 + n_s:1 + n_s + n_out))
@SHOWN@    live = 0
  end subroutine @NAME@

