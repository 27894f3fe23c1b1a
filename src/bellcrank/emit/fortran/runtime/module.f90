@ABOUT@
module model
  use, intrinsic :: iso_fortran_env, only: dp => real64
  @BINDING@
  implicit none
  public

  @SIZES@

@SCALES@  ! what the equations are evaluated with
  real(dp) :: t = 0                    ! time, s
  real(dp) :: p(n_p) = 0, c(n_c) = 0   ! parameters, and what follows from them alone
  real(dp) :: w(n_w) = 0               ! inputs
  real(dp) :: memory(n_memory) = 0     ! what external routines remember
  integer :: live = 0                  ! whose memory may change: 1 routines of rates, 2 of outputs

@INTERFACES@
contains

@PARTS@
end module model
