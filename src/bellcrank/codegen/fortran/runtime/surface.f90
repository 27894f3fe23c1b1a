  ! One variable of a surface within an interval: value or d-th derivative of a(1) + a(2) s + a(3) s^2 + a(4) s^3.
  pure function cubic(a, d, s) result(value)
    real(dp), intent(in) :: a(4), s
    integer, intent(in) :: d
    real(dp) :: value
    select case (d)
    case (0)
      value = a(1) + s*(a(2) + s*(a(3) + s*a(4)))
    case (1)
      value = a(2) + s*(2*a(3) + s*(3*a(4)))
    case (2)
      value = 2*a(3) + s*(6*a(4))
    case (3)
      value = 6*a(4)
    case default
      value = 0
    end select
  end function cubic

  ! A function of two arguments over a grid, or a derivative of it: bicubic pieces of 4 by 4 coefficients in
  ! coordinates that go
  ! from 0 to 1 in each cell. Outside the grid it keeps the value of the nearest edge.
  pure function surface_value(x, y, pieces, dx, dy, v, w) result(value)
    real(dp), intent(in) :: x(:), y(:), pieces(:), v, w
    integer, intent(in) :: dx, dy
    real(dp) :: value, a, b, hx, hy, along(4)
    integer :: i, j, k, cell
    a = min(max(v, x(1)), x(size(x)))
    b = min(max(w, y(1)), y(size(y)))
    i = interval(x, a)
    j = interval(y, b)
    hx = x(i + 1) - x(i)
    hy = y(j + 1) - y(j)
    cell = 16*((i - 1)*(size(y) - 1) + j - 1)
    do k = 1, 4
      along(k) = cubic(pieces(cell + 4*k - 3:cell + 4*k), dy, (b - y(j))/hy)
    end do
    value = cubic(along, dx, (a - x(i))/hx)/(hx**dx*hy**dy)
  end function surface_value
