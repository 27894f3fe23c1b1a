  interface ! of the kernel: u' of M u' = force + J' lambda with J u' = right, then the ratio of pivots
    subroutine constrained_rates(mass, force, rows, right, rates) bind(C, name="rates_on_constraints")
      import :: dp
      real(dp), intent(in) :: mass(*), force(*), rows(*), right(*)
      real(dp), intent(inout) :: rates(*)
    end subroutine constrained_rates
  end interface
