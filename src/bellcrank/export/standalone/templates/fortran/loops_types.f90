
  real(dp), parameter :: closed = 1.0e-13_dp  ! largest residual of a closed loop, in units of its equations ...
  real(dp), parameter :: tight = 1.0e-15_dp   ! ... near a singular position, where residuals are magnified
  real(dp), parameter :: near = 0.1_dp        ! ratio of pivots below which stages are brought onto the constraints too
  real(dp), parameter :: watched = 0.3_dp     ! ratio below which the next step takes its rates from `singular_rates`
  real(dp) :: root_q(n_q) = 1, root_u(n_u) = 1 ! the metric of corrections
  real(dp) :: ratio = 1, steady = 1, moved_by = 0, residual_left = 0, past(0:n_u, 3) = 0
  integer :: n_past = 0, worst_row = 1
  logical :: wary = .false. ! is the present step near a singular position?
