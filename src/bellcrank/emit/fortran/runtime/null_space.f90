  ! ---- closed loops: accelerations on the null space of the constraints, pivoted as the position asks for

  ! Eliminates the rows of a (its last column is a right-hand side), the largest pivot first. Columns are left in the
  ! given order,
  ! `used` rows were taken; rows whose pivots vanish are left out. `ratio` is that of the last pivot to the first.
  pure subroutine pivoted(a, order, used, ratio)
    real(dp), intent(inout) :: a(n_v, n_u + 1)
    integer, intent(out) :: order(n_u), used
    real(dp), intent(out) :: ratio
    real(dp) :: first, row(n_u + 1), column(n_v)
    integer :: k, i, place(2)
    order = [(i, i = 1, n_u)]
    first = 0
    ratio = 1
    used = 0
    do k = 1, rank_v
      place = maxloc(abs(a(k:, k:n_u))) + k - 1
      if (k == 1) first = abs(a(place(1), place(2)))
      ratio = 0
      if (first > 0) ratio = abs(a(place(1), place(2)))/(first*usual_ratio)
      if (.not. ratio > singular) return
      row = a(k, :)
      a(k, :) = a(place(1), :)
      a(place(1), :) = row
      column = a(:, k)
      a(:, k) = a(:, place(2))
      a(:, place(2)) = column
      i = order(k)
      order(k) = order(place(2))
      order(place(2)) = i
      a(k, k:) = a(k, k:)/a(k, k)
      do i = 1, n_v
        if (i /= k) a(i, k:) = a(i, k:) - a(i, k)*a(k, k:)
      end do
      used = k
    end do
  end subroutine pivoted

  ! Rows of loops brought to entries of about one, with a right-hand side.
  pure function scaled(rows, right) result(a)
    real(dp), intent(in) :: rows(n_v, n_u), right(n_v)
    real(dp) :: a(n_v, n_u + 1)
    integer :: j
    do j = 1, n_u
      a(:, j) = rows(:, j)*row_scale*column_scale(j)
    end do
    a(:, n_u + 1) = right*row_scale
  end function scaled

  ! How far the pivots that the derivatives divide by are from zero.
  pure function steady_ratio(rows) result(least)
    real(dp), intent(in) :: rows(n_v, n_u)
    real(dp) :: least, a(n_v, n_u + 1), zero(n_v), factor(n_v)
    integer :: i, j, k
    zero = 0
    a = scaled(rows, zero)
    least = 1
    k = 0
    do while (k < n_order)
      k = k + 1
      i = order_row(k)
      j = order_column(k)
      if (k == 1 .or. abs(a(i, j)) < least) least = abs(a(i, j))
      if (.not. least > @VANISHING@) then
        least = 0
        return
      end if
      factor = a(:, j)/a(i, j)
      factor(i) = 0
      a = a - spread(factor, 2, n_u + 1)*spread(a(i, :), 1, n_v)
    end do
    least = least/usual_order
  end function steady_ratio

  ! rates: u' of M u' = force + J' lambda with J u' = right, then the ratio of pivots. u' = T a + c, where J T = 0 and
  ! J c = right;
  ! (T' M T) a = T' (force - M c). mass: the lower triangle of M.
  subroutine constrained_rates(mass, force, rows, right, rates)
    real(dp), intent(inout) :: mass(n_u, n_u)
    real(dp), intent(in) :: force(n_u), rows(n_v, n_u), right(n_v)
    real(dp), intent(out) :: rates(n_u + 1)
    real(dp) :: a(n_v, n_u + 1), basis(n_u, n_u), reduced(n_u, n_u), b(n_u)
    integer :: order(n_u), used, free, i, j
    a = scaled(rows, right)
    call pivoted(a, order, used, rates(n_u + 1))
    free = n_u - used
    basis = 0
    rates(:n_u) = 0
    do i = 1, used
      j = order(i)
      basis(j, :free) = -column_scale(j)*a(i, used + 1:n_u)
      rates(j) = column_scale(j)*a(i, n_u + 1)
    end do
    do i = 1, free
      basis(order(used + i), i) = column_scale(order(used + i))
    end do
    do i = 2, n_u
      mass(:i - 1, i) = mass(i, :i - 1)
    end do
    b(:free) = matmul(transpose(basis(:, :free)), force - matmul(mass, rates(:n_u)))
    reduced(:free, :free) = matmul(transpose(basis(:, :free)), matmul(mass, basis(:, :free)))
    call solve_symmetric(reduced(:free, :free), b(:free))
    rates(:n_u) = rates(:n_u) + matmul(basis(:, :free), b(:free))
  end subroutine constrained_rates
