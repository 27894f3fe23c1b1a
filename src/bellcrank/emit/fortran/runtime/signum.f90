  pure function signum(x) result(value)
    real(dp), intent(in) :: x
    real(dp) :: value
    value = merge(sign(1.0_dp, x), 0.0_dp, abs(x) > 0.0_dp)
  end function signum
