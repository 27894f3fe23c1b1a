  subroutine record(at, y, row)
    real(dp), intent(in) :: at, y(n_s)
    real(dp), intent(out) :: row(1 + n_channels)
    t = at
    row(1) = at
    row(2:1 + n_s) = y
@IF INPUTS@
    call set_inputs()
@END@
    live = 2
    call outputs(y, row(2 + n_s:1 + n_s + n_out))
@SHOWN@    live = 0
  end subroutine record

