  ! The interval of x(1) < x(2) < ... that holds v, the first or last one for what lies outside.
  pure function interval(x, v) result(low)
    real(dp), intent(in) :: x(:), v
    integer :: low, high, middle
    low = 1
    high = size(x)
    do while (high - low > 1)
      middle = (low + high)/2
      if (v >= x(middle)) then
        low = middle
      else
        high = middle
      end if
    end do
  end function interval

  ! A function of one argument through points x, or its d-th derivative: cubic pieces, four coefficients each, lowest
  ! power
  ! first. Outside its points it goes on with the end slope.
  pure function spline_value(x, pieces, d, v) result(value)
    real(dp), intent(in) :: x(:), pieces(:), v
    integer, intent(in) :: d
    real(dp) :: value, inside, s, slope, a(4)
    integer :: i
    inside = min(max(v, x(1)), x(size(x)))
    i = interval(x, inside)
    s = inside - x(i)
    a = pieces(4*i - 3:4*i)
    slope = a(2) + s*(2*a(3) + s*(3*a(4)))
    select case (d)
    case (0)
      value = a(1) + s*(a(2) + s*(a(3) + s*a(4))) + (v - inside)*slope
    case (1)
      value = slope
    case (2)
      value = merge(0.0_dp, 2*a(3) + 6*a(4)*s, v < inside .or. v > inside)
    case (3)
      value = merge(0.0_dp, 6*a(4), v < inside .or. v > inside)
    case default
      value = 0
    end select
  end function spline_value
