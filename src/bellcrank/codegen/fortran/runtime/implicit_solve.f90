  ! LU factorisation with row pivoting, in place; false if a pivot vanishes.
  subroutine implicit_factor(n, a, pivot, regular)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, n)
    integer, intent(out) :: pivot(n)
    logical, intent(out) :: regular
    real(dp) :: row(n)
    integer :: i, k, best
    regular = .false.
    do k = 1, n
      best = k - 1 + maxloc(abs(a(k:n, k)), dim=1)
      pivot(k) = best
      if (.not. abs(a(best, k)) > 0) return
      row = a(k, :)
      a(k, :) = a(best, :)
      a(best, :) = row
      a(k, k) = 1/a(k, k)
      do i = k + 1, n
        a(i, k) = a(i, k)*a(k, k)
        a(i, k + 1:n) = a(i, k + 1:n) - a(i, k)*a(k, k + 1:n)
      end do
    end do
    regular = .true.
  end subroutine implicit_factor

  subroutine implicit_solve(n, a, pivot, g)
    integer, intent(in) :: n, pivot(n)
    real(dp), intent(in) :: a(n, n)
    real(dp), intent(inout) :: g(n)
    real(dp) :: x
    integer :: i
    do i = 1, n
      x = g(pivot(i))
      g(pivot(i)) = g(i)
      g(i) = x
    end do
    do i = 2, n
      g(i) = g(i) - dot_product(a(i, 1:i - 1), g(1:i - 1))
    end do
    do i = n, 1, -1
      g(i) = (g(i) - dot_product(a(i, i + 1:n), g(i + 1:n)))*a(i, i)
    end do
  end subroutine implicit_solve

  ! Euler parameters after a rotation by a small vector.
  subroutine implicit_turn(e, a, b, c)
    real(dp), intent(inout) :: e(4)
    real(dp), intent(in) :: a, b, c
    real(dp) :: x, r, f, w, p, q, s, n(4)
    x = 0.25_dp*(a*a + b*b + c*c)
    r = sqrt(x)
    f = 0.5_dp*(1 - x/6 + x*x/120)
    if (x > @SMALL@) f = 0.5_dp*sin(r)/r
    w = cos(r)
    p = f*a
    q = f*b
    s = f*c
    n(1) = w*e(1) - p*e(2) - q*e(3) - s*e(4)
    n(2) = w*e(2) + p*e(1) + q*e(4) - s*e(3)
    n(3) = w*e(3) + q*e(1) + s*e(2) - p*e(4)
    n(4) = w*e(4) + s*e(1) + p*e(3) - q*e(2)
    e = n/sqrt(sum(n*n))
  end subroutine implicit_turn
