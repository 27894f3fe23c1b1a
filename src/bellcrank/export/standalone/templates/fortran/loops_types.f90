
@TUNING@  real(dp) :: root_q(n_q) = 1, root_u(n_u) = 1 ! the metric of corrections
  real(dp) :: ratio = 1, steady = 1, moved_by = 0, residual_left = 0, past(0:n_u, 3) = 0
  integer :: n_past = 0, worst_row = 1
  real(dp) :: closing_time = 0 ! at which loops are assembled
@IF SIDES@
  integer :: most_nudges = tuned_nudges ! how often they are tried from places beside
@END@
  logical :: wary = .false. ! does the present step take its rates from the redundant equations ...
  logical :: near = .false. ! ... and are its stages closed too, as a singular position is near?
@IF SIDES@
  ! for every row of g, the number of the direction that must point as drawn, or 0: it holds on both sides
  integer, save :: side_of(n_g) = [ &
    @SIDES@]
@END@
