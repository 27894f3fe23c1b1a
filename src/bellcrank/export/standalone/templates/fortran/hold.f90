  ! Values of external routines that are kept over a run (at its first step) and over a step; whose memory may change: 2, or 0 of none.
  subroutine hold(first, at, y, whose)
    logical, intent(in) :: first
    real(dp), intent(in) :: at, y(n_s)
    integer, intent(in) :: whose
    real(dp) :: held(n_w - n_i)
    t = at
@SET_INPUTS@    live = whose
@START@@UPDATE@    live = 0
  end subroutine hold

