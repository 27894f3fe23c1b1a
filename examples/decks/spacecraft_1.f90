  ! External routines of the decks spacecraft_1.lsp and spacecraft_1_small.lsp in Fortran; see spacecraft_1.py. They become
  ! procedures of a module in which dp is the kind of all reals.

  ! Commanded clock and camera angles (rad): a ramp between two holds.
  subroutine cmd(t, returns)
    real(dp), intent(in) :: t
    real(dp), intent(out) :: returns(2)
    real(dp) :: slew
    slew = min(max(t - 1, 0.0_dp), 10.0_dp)
    returns = [4 - 0.025_dp*slew, -0.5_dp + 0.01_dp*slew]
  end subroutine cmd

  ! Thruster of one axis: -1, 0 or 1. `memory` keeps what fires (1..3) and until when (4..6).
  function thrust(t, axis, err, memory) result(fire)
    real(dp), intent(in) :: t, axis, err
    real(dp), intent(inout) :: memory(6)
    real(dp) :: fire
    real(dp), parameter :: dead_band = 0.0025_dp, pulse = 0.02_dp ! rad, s
    integer :: i
    i = nint(axis)
    if (abs(err) > dead_band) then
      memory(i) = merge(-1.0_dp, 1.0_dp, err > 0)
      memory(i + 3) = t + pulse
    else if (t >= memory(i + 3)) then
      memory(i) = 0
    end if
    fire = memory(i)
  end function thrust
