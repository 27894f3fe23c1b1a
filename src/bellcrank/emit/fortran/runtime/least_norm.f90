  ! The x with A x = r that is smallest when each x is divided by its root; A has a known rank. Rows are brought to
  ! length
  ! 1 and orthogonalised, the one with most left first, so that no square of A is formed. Rows that vanish against the
  ! longest, or of which nothing is left because they repeat others, are left out. What is not finite in A or r makes
  ! every x not finite.
  subroutine least_norm(rows, r, rank, root, x)
    real(dp), intent(in) :: rows(:, :), r(:), root(:)
    integer, intent(in) :: rank
    real(dp), intent(out) :: x(:)
    real(dp) :: a(size(rows, 1), size(rows, 2)), y(size(r)), left(size(r)), along(size(r)), e(size(x)), share
    integer :: i, n, best
    do i = 1, size(x)
      a(:, i) = root(i)*rows(:, i)
    end do
    left = sqrt(sum(a*a, dim=2))
    x = sum(0*left) + sum(0*r)
    if (size(r) == 0 .or. size(x) == 0) return
    along = left
    do i = 1, size(r)
      y(i) = 0
      if (along(i) > tuned_short*maxval(along)) then
        y(i) = r(i)/along(i)
        a(i, :) = a(i, :)/along(i)
      else
        a(i, :) = 0
      end if
    end do
    do n = 1, rank
      left = sqrt(sum(a*a, dim=2))
      best = maxloc(left, dim=1)
      if (.not. left(best) > tuned_repeated) exit
      e = a(best, :)/left(best)
      share = y(best)/left(best)
      x = x + share*e
      along = matmul(a, e)
      y = y - share*along
      do i = 1, size(x)
        a(:, i) = a(:, i) - along*e(i)
      end do
      a(best, :) = 0
    end do
    x = root*x
  end subroutine least_norm
