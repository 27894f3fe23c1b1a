
@TUNING@  real(dp) :: root_q(n_q) = 1, root_u(n_u) = 1 ! the metric of corrections
  real(dp) :: ratio = 1, steady = 1, moved_by = 0, residual_left = 0, past(0:n_u, 3) = 0
  integer :: n_past = 0, worst_row = 1
  logical :: wary = .false. ! is the present step near a singular position?
@IF SIDES@
  ! for every row of g, the number of the direction that must point as drawn, or 0: it holds on both sides
  integer, save :: side_of(n_g) = [ &
    @SIDES@]
@END@
