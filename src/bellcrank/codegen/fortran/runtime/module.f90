@ABOUT@
module model
  use, intrinsic :: iso_c_binding, only: dp => c_double, @BINDING@
  implicit none
  public

  @SIZES@

  ! What external routines need. A program in Fortran declares one of them; if there is a memory, x%memory = c_loc(of
  ! n_memory numbers), which may change where live is 1 (rates) or 2 (outputs, kept values).
  type, bind(C) :: externals
    type(c_funptr) :: callback = c_null_funptr ! not used
    type(c_ptr) :: memory = c_null_ptr
    integer(c_int32_t) :: live = 0
    integer(c_int32_t) :: failed = 0
  end type externals

@INTERFACES@
contains

  ! There are no variables of the module: several threads may call these at once.

@PARTS@
end module model
