! @TITLE@: external routines in Fortran
module routines
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use, intrinsic :: iso_c_binding, only: c_double
  implicit none

contains

@TEXTS@
  ! ---- the same for C

@BOUND@
end module routines
