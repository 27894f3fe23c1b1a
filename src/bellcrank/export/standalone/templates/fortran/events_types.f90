
@TUNING@  integer, parameter :: n_events = @N_EVENTS@, n_settings = @N_SETTINGS@, width = 1 + n_s + n_out + n_w
  integer, parameter :: most_fired = 18*n_events ! at one time, with those that are pushed again
  ! An event that has acted where its condition still is zero: it counts again once that was on the other side of
  ! `side`. Does the action turn it back? That is asked in the first `looks` only.
  type :: wait_at_zero
    logical :: waits = .false., turns = .false.
    integer :: side = 1, looks = 2
    real(dp) :: size = 0 ! of the condition about the event
  end type wait_at_zero
  type :: crossing
    real(dp) :: time, size
    integer :: event, side
    logical :: pushed = .false. ! did an action push a condition over that stood at zero?
  end type crossing
  type(wait_at_zero), save :: at_zero(n_events)
  real(dp), allocatable :: kept_rows(:, :) ! to be written
  integer :: n_kept = 0
  real(dp) :: row_before(width), row_after(width) ! at the ends of the last step ...
  real(dp) :: y_before(n_s), k_before(n_s)        ! ... state and rates at its beginning ...
  real(dp) :: step_began                          ! ... when that was, and its number
  integer :: step_number = 0
  real(dp) :: acted_at(0:tuned_event_most, n_events) = 0 ! the last actions
  integer :: acted(n_events) = 0
  logical :: told_idle(n_events) = .false., were_set = .false., refused = .false.
