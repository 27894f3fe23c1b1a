  ! ---- closed loops

  ! The smallest x with A x = r; the rows of A are brought to length 1 first. x = A' y, where A A' y = r is solved by
  ! A A' = L D L' with the largest pivot first. Rows that vanish against the longest, or whose pivot vanishes because they repeat
  ! others, are left out. What is not finite in A or r makes every x not finite.
  subroutine least_norm(a, r, x)
    real(dp), intent(in) :: a(:, :), r(:)
    real(dp), intent(out) :: x(:)
    real(dp) :: s(size(r), size(r)), y(size(r)), scale(size(r)), largest, entry
    integer :: order(size(r)), rank, i, j, best, pivot, row
    order = [(i, i = 1, size(r))]
    scale = sqrt(sum(a*a, dim=2))
    x = sum(0*scale) + sum(0*r)
    if (size(r) == 0 .or. size(x) == 0) return
    scale = merge(1/max(scale, tiny(scale)), 0*scale, scale > 1.0e-10_dp*maxval(scale))
    y = scale*r
    s = matmul(a, transpose(a))
    do i = 1, size(r)
      s(i, :) = scale(i)*s(i, :)*scale
    end do
    largest = 0
    rank = 0
    do while (rank < size(r))
      best = rank + 1
      do i = rank + 2, size(r)
        if (s(order(i), order(i)) > s(order(best), order(best))) best = i
      end do
      pivot = order(best)
      if (rank == 0) largest = s(pivot, pivot)
      if (.not. s(pivot, pivot) > 1.0e-12_dp*largest) exit
      rank = rank + 1
      order(best) = order(rank)
      order(rank) = pivot
      do i = rank + 1, size(r)
        row = order(i)
        entry = s(row, pivot)/s(pivot, pivot)
        y(row) = y(row) - entry*y(pivot)
        do j = rank + 1, size(r)
          s(row, order(j)) = s(row, order(j)) - entry*s(pivot, order(j))
        end do
      end do
    end do
    do i = rank, 1, -1
      row = order(i)
      do j = i + 1, rank
        y(row) = y(row) - s(row, order(j))*y(order(j))
      end do
      y(row) = y(row)/s(row, row)
      x = x + scale(row)*y(row)*a(row, :)
    end do
  end subroutine least_norm

  ! Residuals g and v of the loops at a time and state, and their slopes by q and u.
  subroutine constraints(at, y, g, slope_g, v, slope_v)
    real(dp), intent(in) :: at, y(n_s)
    real(dp), intent(out) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u)
    real(dp) :: all_rows(n_g*(1 + n_q) + n_v*(1 + n_u))
    integer :: n
    t = at
@SET_INPUTS@    live = .false.
    call closure(y, all_rows)
    n = n_g*(1 + n_q)
    g = all_rows(:n_g)
    slope_g = transpose(reshape(all_rows(n_g + 1:n), [n_q, n_g]))
    v = all_rows(n + 1:n + n_v)
    slope_v = transpose(reshape(all_rows(n + n_v + 1:), [n_u, n_v]))
  end subroutine constraints

  ! Corrects q so that the loops are closed, then u so that they stay closed. A correction that is large against what a step
  ! moves means that they cannot be.
  subroutine admit(at, y, problem_text)
    real(dp), intent(in) :: at
    real(dp), intent(inout) :: y(n_s)
    character(len=*), intent(inout) :: problem_text
    real(dp) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u), change_q(n_q), change_u(n_u), moved
    integer :: n
    moved = 0
    call constraints(at, y, g, slope_g, v, slope_v)
    do n = 1, 4
      if (all(abs(g) < 1.0e-13_dp)) exit
      call least_norm(slope_g, g, change_q)
      moved = moved + norm2(change_q)
      y(:n_q) = y(:n_q) - change_q
      call constraints(at, y, g, slope_g, v, slope_v)
    end do
    call least_norm(slope_v, v, change_u)
    y(n_q + 1:) = y(n_q + 1:) - change_u
    if (moved > 0.1_dp*step*norm2(y(n_q + 1:)) + 1.0e-6_dp) &
      problem_text = "the loops cannot be kept closed: a correction of " // trim(number(moved)) // " was needed"
  end subroutine admit

  ! The smallest change of the free variables with A change = r.
  subroutine free_change(a, r, may, change)
    real(dp), intent(in) :: a(:, :), r(:)
    logical, intent(in) :: may(:)
    real(dp), intent(out) :: change(:)
    integer :: chosen(count(may)), i
    real(dp) :: x(count(may))
    chosen = pack([(i, i = 1, size(may))], may)
    call least_norm(a(:, chosen), r, x)
    change = 0
    change(chosen) = x
  end subroutine free_change

  ! Closes the loops by changing free variables only: damped Newton steps for q, then u so that they stay closed.
  ! `open_row` is the number of the row that stays open, or 0.
  subroutine close_loops(y, may, residual, open_row)
    real(dp), intent(inout) :: y(n_s)
    logical, intent(in) :: may(n_s)
    real(dp), intent(out) :: residual
    integer, intent(out) :: open_row
    real(dp) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u)
    real(dp) :: trial(n_s), change_q(n_q), change_u(n_u), before, scale
    integer :: n, halvings
    call constraints(0.0_dp, y, g, slope_g, v, slope_v)
    do n = 1, 60
      if (all(abs(g) < 1.0e-13_dp)) exit
      before = norm2(g)
      call free_change(slope_g, g, may(:n_q), change_q)
      scale = 1
      if (norm2(change_q) > 0.5_dp) scale = 0.5_dp/norm2(change_q)
      trial = y
      do halvings = 1, 12
        trial(:n_q) = y(:n_q) - scale*change_q
        call constraints(0.0_dp, trial, g, slope_g, v, slope_v)
        if (norm2(g) < before .or. scale < 1.0e-3_dp) exit
        scale = scale/2
      end do
      if (.not. norm2(g) < before) exit
      y = trial
    end do
    call constraints(0.0_dp, y, g, slope_g, v, slope_v)
    residual = maxval([0.0_dp, abs(g)])
    open_row = 0
    if (.not. residual < 1.0e-10_dp) then
      open_row = maxloc(abs(g), dim=1)
      return
    end if
    call free_change(slope_v, v, may(n_q + 1:), change_u)
    y(n_q + 1:) = y(n_q + 1:) - change_u
    call constraints(0.0_dp, y, g, slope_g, v, slope_v)
    residual = maxval(abs(v))
    if (residual > 1.0e-9_dp*max(1.0_dp, maxval(abs(y(n_q + 1:))))) open_row = n_g + maxloc(abs(v), dim=1)
  end subroutine close_loops

  ! An initial state that closes the loops: what is given is kept; if that cannot be, dependent coordinates are guesses only;
  ! then everything may move.
  subroutine assemble(y)
    real(dp), intent(inout) :: y(n_s)
    logical, parameter :: guessed(n_s) = [@GUESSED@]
    real(dp) :: found(n_s), residual
    integer :: attempt, open_row, j
    logical :: may(n_s)
    do attempt = 0, 2
      may = attempt == 2 .or. .not. states%given .or. (attempt == 1 .and. guessed)
      found = y
      call close_loops(found, may, residual, open_row)
      if (open_row > 0) cycle
      do j = 1, n_s
        if (attempt > 0 .and. states(j)%given .and. abs(found(j) - y(j)) > 1.0e-9_dp) &
          write (output_unit, '(a, g0.6, a, g0.6)') "note: the initial value of " // trim(states(j)%keyword) // &
          " contradicts the constraints; ", found(j)/states(j)%factor, " is used instead of ", y(j)/states(j)%factor
      end do
      y = found
      return
    end do
    call problem(input, 0, "the loop " // trim(row_name(open_row)) // " cannot be closed: a residual of " // &
                 trim(number(residual)) // " remains. Check lengths, or give initial values nearer to an assembly")
    call stop_if_problems()
  end subroutine assemble

  function row_name(i) result(name)
    integer, intent(in) :: i
    character(len=@ROW_LENGTH@) :: name
    select case (i)
@ROWS@    case default
      name = ""
    end select
  end function row_name

