  ! Values of external routines that are kept over a run (at its first step) and over a step; whose memory may change:
  ! 2, or 0 of none.
  subroutine hold(first, at, y, whose)
    logical, intent(in) :: first
    real(dp), intent(in) :: at, y(n_s)
    integer, intent(in) :: whose
    real(dp) :: held(n_w - n_i)
    t = at
@IF INPUTS@
    call set_inputs()
@END@
    live = whose
@IF START@
    if (first) then
      call start_values(y, held(:@START@))
      w(n_i + 1:n_i + @START@) = held(:@START@)
    end if
@ELSE@
    if (first .and. n_i < 0) return ! not used
@END@
@IF UPDATE@
    call update_values(y, held(:@UPDATE@))
    w(n_i + @NEXT@:) = held(:@UPDATE@)
@END@
    live = 0
  end subroutine hold

