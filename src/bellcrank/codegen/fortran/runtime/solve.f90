  ! Solves A x = b for a symmetric matrix (its lower triangle is given) by A = L D L'; x replaces b. A pivot that
  ! vanishes
  ! against the largest diagonal entry means a singular matrix: every x is then not a number.
  subroutine solve_symmetric(a, b)
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    real(dp), intent(inout) :: a(:, :), b(:)
    real(dp) :: largest, entry
    integer :: j, k, n
    n = size(b)
    largest = maxval([(abs(a(j, j)), j = 1, n)])
    do j = 1, n
      do k = 1, j - 1 ! row j: L D so far
        a(j, k) = a(j, k) - dot_product(a(j, 1:k - 1), a(k, 1:k - 1))
      end do
      do k = 1, j - 1 ! row j: L, and the pivot
        entry = a(j, k)/a(k, k)
        a(j, j) = a(j, j) - entry*a(j, k)
        b(j) = b(j) - entry*b(k)
        a(j, k) = entry
      end do
      if (.not. abs(a(j, j)) > @DEPENDENT@*largest) then
        b = ieee_value(b, ieee_quiet_nan)
        return
      end if
    end do
    do j = n, 1, -1
      b(j) = b(j)/a(j, j) - dot_product(a(j + 1:n, j), b(j + 1:n))
    end do
  end subroutine solve_symmetric
