  ! The correction of regular positions: what depends on the rest is moved. `done` is false, and the state as before,
  ! where a pivot is
  ! small, the correction does not settle, or it is large against what the step moves.
  subroutine correct_dependent(h, at, y, done)
    real(dp), intent(in) :: h, at
    real(dp), intent(inout) :: y(n_s)
    logical, intent(out) :: done
    real(dp) :: state(n_s), change_q(n_corrected_q), change_u(2*n_corrected_u), length
    integer :: n
    t = at
@IF INPUTS@
    call set_inputs()
@END@
    live = 0
    state = y
    moved_by = 0
    residual_left = 0
    do n = 1, tuned_corrections
      call correct_q(state, change_q)
      state(corrected_q) = state(corrected_q) - change_q
      length = norm2(change_q)
      moved_by = moved_by + length
      if (length < tuned_settled) exit
    end do
    call correct_u(state, change_u)
    ratio = 1
    steady = minval(abs(change_u(n_corrected_u + 1:)*pivot_scale))
    state(n_q + corrected_u) = state(n_q + corrected_u) - change_u(:n_corrected_u)
    done = length < tuned_settled .and. steady > tuned_watched &
           .and. moved_by <= tuned_share*h*norm2(state(n_q + 1:)) + tuned_least
    if (done) y = state
  end subroutine correct_dependent

