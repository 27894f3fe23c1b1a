@CORRECTION@  ! ---- closed loops

@LEAST_NORM@
  ! Residuals g and v of the loops at a time and state, and their slopes by q and u.
  subroutine constraints(at, y, g, slope_g, v, slope_v)
    real(dp), intent(in) :: at, y(n_s)
    real(dp), intent(out) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u)
    real(dp) :: all_rows(n_g*(1 + n_q) + n_v*(1 + n_u))
    integer :: n
    t = at
@IF INPUTS@
    call set_inputs()
@END@
    live = 0
    call closure(y, all_rows)
    n = n_g*(1 + n_q)
    g = all_rows(:n_g)
    slope_g = transpose(reshape(all_rows(n_g + 1:n), [n_q, n_g]))
    v = all_rows(n + 1:n + n_v)
    slope_v = transpose(reshape(all_rows(n + n_v + 1:), [n_u, n_v]))
  end subroutine constraints

  ! The redundant equations M u' = force + J' lambda, J u' = right, at a state and the present time, with the residuals
  ! of its rows: g (zero for those of speeds alone) and v.
  subroutine redundant(y, rate_q, mass, force, rows, right, g, v)
    real(dp), intent(in) :: y(n_s)
    real(dp), intent(out) :: rate_q(n_q), mass(n_u, n_u), force(n_u), rows(n_v, n_u), right(n_v), g(n_v), v(n_v)
    real(dp) :: found(n_q + n_u*(n_u + 1)/2 + n_u + n_v*(n_u + 2) + n_g)
    integer :: i, n
    call system(y, found)
    rate_q = found(:n_q)
    n = n_q
    mass = 0
    do i = 1, n_u
      mass(i, :i) = found(n + 1:n + i)
      n = n + i
    end do
    force = found(n + 1:n + n_u)
    n = n + n_u
    rows = transpose(reshape(found(n + 1:n + n_v*n_u), [n_u, n_v]))
    n = n + n_v*n_u
    right = found(n + 1:n + n_v)
    n = n + n_v
    g = 0
    g(:n_paired) = found(n + 1:n + n_paired)
    v = found(n + n_g + 1:)
  end subroutine redundant

  ! Euler parameters brought to unit size: position rows without rates, the last of them.
  subroutine unit_sizes(at, y)
    real(dp), intent(in) :: at
    real(dp), intent(inout) :: y(n_s)
    real(dp) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u)
    integer :: i
    call constraints(at, y, g, slope_g, v, slope_v)
    i = n_paired
    do while (i < n_g)
      i = i + 1
      y(:n_q) = y(:n_q) - slope_g(i, :)*g(i)/sum(slope_g(i, :)**2)
    end do
  end subroutine unit_sizes

  ! The same as `admit` near a singular position: in the metric of M, in which errors across the branch do not become
  ! errors along it.
  subroutine admit_near(at, y)
    real(dp), intent(in) :: at
    real(dp), intent(inout) :: y(n_s)
    real(dp) :: rate_q(n_q), mass(n_u, n_u), force(n_u), rows(n_v, n_u), right(n_v), g(n_v), v(n_v)
    real(dp) :: x(n_u + 1), state(n_s), with_x(n_q), without(n_q), before
    integer :: n
    moved_by = 0
    residual_left = 0
    before = huge(before)
    call unit_sizes(at, y)
    call redundant(y, rate_q, mass, force, rows, right, g, v)
    ratio = pivot_ratio(rows)
    steady = steady_ratio(rows)
    worst_row = maxloc(abs(g), dim=1)
    if (.not. ratio > singular) return
    force = 0
    do n = 1, tuned_corrections
      if (all(abs(g) < tuned_tight)) exit
      if (maxval(abs(g)) >= before .and. all(abs(g) < tuned_closed)) exit
      before = maxval(abs(g))
      call constrained_rates(mass, force, rows, g, x)
      state(:n_q) = y(:n_q)
      state(n_q + 1:) = x(:n_u)
      call coordinate_rates(state, with_x)
      state(n_q + 1:) = 0
      call coordinate_rates(state, without)
      moved_by = moved_by + norm2(with_x - without)
      y(:n_q) = y(:n_q) - (with_x - without)
      call redundant(y, rate_q, mass, force, rows, right, g, v)
      force = 0
      ratio = pivot_ratio(rows)
      steady = steady_ratio(rows)
    end do
    residual_left = maxval([0.0_dp, abs(g)])
    call constrained_rates(mass, force, rows, v, x)
    y(n_q + 1:) = y(n_q + 1:) - x(:n_u)
  end subroutine admit_near

  ! Corrects q so that the loops are closed to within `small`, then u so that they stay closed; in a singular position
  ! neither.
  subroutine admit(at, y, small)
    real(dp), intent(in) :: at, small
    real(dp), intent(inout) :: y(n_s)
    real(dp) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u), change_q(n_q), change_u(n_u)
    integer :: n
    if (near) then
      call admit_near(at, y)
      return
    end if
    moved_by = 0
    residual_left = 0
    call constraints(at, y, g, slope_g, v, slope_v)
    ratio = pivot_ratio(slope_v)
    steady = steady_ratio(slope_v)
    worst_row = maxloc(abs(g), dim=1)
    if (.not. ratio > singular) return
    do n = 1, tuned_corrections
      if (all(abs(g) < small)) exit
      call least_norm(slope_g, g, rank_g, root_q, change_q)
      moved_by = moved_by + norm2(change_q)
      y(:n_q) = y(:n_q) - change_q
      call constraints(at, y, g, slope_g, v, slope_v)
      if (n == 1) then
        ratio = pivot_ratio(slope_v)
        steady = steady_ratio(slope_v)
      end if
    end do
    residual_left = maxval([0.0_dp, abs(g)])
    call least_norm(slope_v, v, rank_v, root_u, change_u)
    y(n_q + 1:) = y(n_q + 1:) - change_u
  end subroutine admit

  ! How near a position is to a singular one: the ratio of pivots of the slopes.
  function pivot_ratio(slopes) result(value)
    real(dp), intent(in) :: slopes(n_v, n_u)
    real(dp) :: value, a(n_v, n_u + 1), zero(n_v)
    integer :: order(n_u), used
    zero = 0
    a = scaled(slopes, zero)
    call pivoted(a, order, used, value)
  end function pivot_ratio

  ! Accelerations by the parabola, line or constant through those of the last regular steps.
  function extrapolated(at) result(rate)
    real(dp), intent(in) :: at
    real(dp) :: rate(n_u), share
    integer :: i, k
    rate = 0
    do i = 1, n_past
      share = 1
      do k = 1, n_past
        if (k /= i) share = share*(at - past(0, k))/(past(0, i) - past(0, k))
      end do
      rate = rate + share*past(1:, i)
    end do
  end function extrapolated

  ! Rates near a singular position: the state is brought onto the constraints first. In it, accelerations are
  ! extrapolated.
  subroutine wary_rates(y, rate)
    real(dp), intent(in) :: y(n_s)
    real(dp), intent(out) :: rate(n_s)
    real(dp) :: mass(n_u, n_u), force(n_u), rows(n_v, n_u), right(n_v), g(n_v), v(n_v), found(n_u + 1), state(n_s)
    integer :: alive
    state = y
    if (near) then
      alive = live
      call admit(t, state, tuned_tight)
      live = alive
    end if
    call redundant(state, rate(:n_q), mass, force, rows, right, g, v)
    call constrained_rates(mass, force, rows, right, found)
    if (.not. found(n_u + 1) > singular .and. n_past > 0) found(:n_u) = extrapolated(t)
    rate(n_q + 1:) = found(:n_u)
  end subroutine wary_rates

  ! Rates from which accelerations are extrapolated: those of the last three regular steps, or of the start.
  subroutine remember(at, rate)
    real(dp), intent(in) :: at, rate(n_s)
    if (n_past == 3) past(:, 1:2) = past(:, 2:3)
    n_past = min(n_past + 1, 3)
    past(0, n_past) = at
    past(1:, n_past) = rate(n_q + 1:)
  end subroutine remember

  ! The start of a run: is it near a singular position?
  subroutine begin(at, y)
    real(dp), intent(in) :: at, y(n_s)
    real(dp) :: state(n_s)
    state = y
    call admit(at, state, tuned_closed)
    call watch()
  end subroutine begin

  ! How the next step is taken.
  subroutine watch()
    near = ratio < tuned_watched
    wary = near .or. steady < tuned_watched
  end subroutine watch

  ! A step that ends on the constraints. It is taken again with care if it ends near a singular position, and halved if
  ! it needs a
  ! correction that is large against what it moves.
  recursive subroutine move(h, start, middle, finish_time, y, k, next, depth, ended)
    real(dp), intent(in) :: h, start, middle, finish_time, y(n_s), k(n_s)
    real(dp), intent(out) :: next(n_s)
    integer, intent(in) :: depth
    character(len=*), intent(inout) :: ended
    real(dp) :: half(n_s), rate(n_s)
@IF CORRECTED@
    logical :: done
@END@
    do
      if (depth > 0 .or. near) behind = .false.
      call advance(h, start, middle, finish_time, y, k, next)
      if (.not. all(ieee_is_finite(next))) return
@IF CORRECTED@
      if (.not. wary) then
        call correct_dependent(h, finish_time, next, done)
        if (done) return
      end if
@END@
      call admit(finish_time, next, merge(tuned_tight, tuned_closed, wary))
      if ((near .or. ratio >= tuned_near) .and. (wary .or. steady >= tuned_near)) exit
      near = near .or. ratio < tuned_near ! once more, with care
      wary = .true.
    end do
    if (.not. all(ieee_is_finite(next))) return
    if (moved_by <= tuned_share*h*norm2(next(n_q + 1:)) + tuned_least .and. residual_left < tuned_open) return
    if (depth == tuned_halvings) then
      ended = "the loop " // trim(row_name(worst_row)) // " cannot be kept closed: a correction of " // &
              trim(number(moved_by)) // " was needed"
      return
    end if
    call move(h/2, start, (start + middle)/2, middle, y, k, half, depth + 1, ended)
    next = half
    if (ended /= "" .or. .not. all(ieee_is_finite(half))) return
    near = near .or. ratio < tuned_watched
    wary = wary .or. near .or. steady < tuned_watched
    call rates(.false., middle, half, rate)
    call move(h/2, middle, (middle + finish_time)/2, finish_time, half, rate, next, depth + 1, ended)
  end subroutine move

  ! The metric in which loops are kept closed: roots of the inverse inertias of coordinates and speeds at the start, so
  ! that
  ! corrections move what is light.
  subroutine find_metric(at, y)
    real(dp), intent(in) :: at, y(n_s)
    real(dp) :: heavy(n_u), state(n_s), still(n_q), moving(n_q)
    integer :: i
    t = at
@IF INPUTS@
    call set_inputs()
@END@
    call inertias(y, heavy)
    root_u = 1
    if (maxval(heavy) > 0) root_u = 1/max(heavy, tuned_light*maxval(heavy))
    state = y
    state(n_q + 1:) = 0
    call coordinate_rates(state, still)
    root_q = 0
    do i = 1, n_u
      state(n_q + i) = 1
      call coordinate_rates(state, moving)
      state(n_q + i) = 0
      root_q = root_q + root_u(i)*(moving - still)**2
    end do
    root_q = sqrt(merge(root_q, minval(root_u), root_q > 0))
    root_u = sqrt(root_u)
  end subroutine find_metric

  ! The smallest change of the free variables with A change = r, A of a known rank.
  subroutine free_change(a, r, rank, may, change)
    real(dp), intent(in) :: a(:, :), r(:)
    integer, intent(in) :: rank
    logical, intent(in) :: may(:)
    real(dp), intent(out) :: change(:)
    integer :: chosen(count(may)), i
    real(dp) :: x(count(may)), one(count(may))
    one = 1
    chosen = pack([(i, i = 1, size(may))], may)
    call least_norm(a(:, chosen), r, rank, one, x)
    change = 0
    change(chosen) = x
  end subroutine free_change

@IF SIDES@
  ! The cosines of the angles between directions and those drawn, and their slopes by q.
  subroutine directions(y, h, slope_h)
    real(dp), intent(in) :: y(n_s)
    real(dp), intent(out) :: h(@N_SIDES@), slope_h(@N_SIDES@, n_q)
    real(dp) :: all_sides(@N_SIDES@*(1 + n_q))
    t = closing_time
    call sides(y, all_sides)
    h = all_sides(:@N_SIDES@)
    slope_h = transpose(reshape(all_sides(@N_SIDES@ + 1:), [n_q, @N_SIDES@]))
  end subroutine directions

  ! Divides rows, and their slopes, by 1 + the cosine of the angle to the direction drawn: what is left is zero on the
  ! right side only.
  subroutine weigh(y, g, slope_g)
    real(dp), intent(in) :: y(n_s)
    real(dp), intent(inout) :: g(n_g), slope_g(n_g, n_q)
    real(dp) :: h(@N_SIDES@), slope_h(@N_SIDES@, n_q), d
    integer :: i
    call directions(y, h, slope_h)
    do i = 1, n_g
      if (side_of(i) == 0) cycle
      d = max(1 + h(side_of(i)), tuned_opposite)
      slope_g(i, :) = (slope_g(i, :) - g(i)/d*slope_h(side_of(i), :))/d
      g(i) = g(i)/d
    end do
  end subroutine weigh

  ! The first row of a direction that points the wrong way, or 0.
  function reversed_row(y) result(row)
    real(dp), intent(in) :: y(n_s)
    real(dp) :: h(@N_SIDES@), slope_h(@N_SIDES@, n_q)
    integer :: row, i
    call directions(y, h, slope_h)
    row = 0
    do i = n_g, 1, -1
      if (side_of(i) == 0) cycle
      if (.not. h(side_of(i)) > 0) row = i
    end do
  end function reversed_row

@END@
  ! Rows of positions with their slopes, weighed by their sides if asked for, and the largest residual as it is.
  subroutine positions(y, weighed, g, slope_g, residual, worst)
    real(dp), intent(in) :: y(n_s)
    logical, intent(in) :: weighed
    real(dp), intent(out) :: g(n_g), slope_g(n_g, n_q), residual
    integer, intent(out) :: worst
    real(dp) :: v(n_v), slope_v(n_v, n_u)
    call constraints(closing_time, y, g, slope_g, v, slope_v)
    residual = maxval([0.0_dp, abs(g)])
    worst = maxloc(abs(g), dim=1)
@IF SIDES@
    if (weighed) call weigh(y, g, slope_g)
@ELSE@
    if (weighed) return
@END@
  end subroutine positions

  ! Closes the loops by damped Newton steps of free coordinates. `open_row` is the row that stays open, or 0.
  ! Near an assembly, redundant rows move it far along the motion that it leaves: their usual rank is tried first.
  subroutine close_positions(y, may, weighed, residual, open_row)
    real(dp), intent(inout) :: y(n_s)
    logical, intent(in) :: may(n_s), weighed
    real(dp), intent(out) :: residual
    integer, intent(out) :: open_row
    real(dp) :: g(n_g), slope_g(n_g, n_q), trial(n_s), change_q(n_q), before, scale
    integer, parameter :: ranks(2) = [rank_g, n_g]
    integer :: n, halvings, i
    call positions(y, weighed, g, slope_g, residual, open_row)
    do n = 1, tuned_tries
      if (residual < tuned_closed) exit
      before = norm2(g)
      do i = merge(2, 1, rank_g == n_g), 2
        call free_change(slope_g, g, ranks(i), may(:n_q), change_q)
        scale = 1
        if (norm2(change_q) > tuned_stride) scale = tuned_stride/norm2(change_q)
        trial = y
        do halvings = 1, tuned_cuts
          trial(:n_q) = y(:n_q) - scale*change_q
          call positions(trial, weighed, g, slope_g, residual, open_row)
          if (norm2(g) < before .or. scale < tuned_crumb) exit
          scale = scale/2
        end do
        if (norm2(g) < before) exit
        call positions(y, weighed, g, slope_g, residual, open_row)
      end do
      if (.not. norm2(g) < before) exit
      y = trial
    end do
    if (residual < tuned_assembled) open_row = 0
  end subroutine close_positions

  ! Closes the loops by changing free variables only, with all directions as drawn, then u so that they stay closed.
  ! `open_row` is the number of the row that stays open, or 0; `reverse`: it closes with its direction the other way
  ! round.
  subroutine close_loops(y, may, residual, open_row, reverse)
    real(dp), intent(inout) :: y(n_s)
    logical, intent(in) :: may(n_s)
    real(dp), intent(out) :: residual
    integer, intent(out) :: open_row
    logical, intent(out) :: reverse
    real(dp) :: g(n_g), slope_g(n_g, n_q), v(n_v), slope_v(n_v, n_u), change_u(n_u)
@IF SIDES@
    real(dp) :: given(n_s), plain(n_s), left
    integer :: nudge, open, wrong, j
@END@
    reverse = .false.
@IF SIDES@
    given = y
    plain = y
    open = 0
    wrong = 0
    do nudge = 0, most_nudges
      y(:n_q) = given(:n_q) + merge([(tuned_nudge*nudge*sin(real(j - 1 + nudge, dp)), j = 1, n_q)], 0.0_dp, may(:n_q))
      call close_positions(y, may, .true., left, open_row)
      if (open_row == 0) then
        if (reversed_row(y) == 0) exit
      end if
      if (nudge == 0) then ! as the rows are: what cannot be closed at all is told as such
        call close_positions(plain, may, .false., residual, open)
        if (open == 0) wrong = reversed_row(plain)
        if (open == 0 .and. wrong == 0) then
          y = plain
          exit
        end if
      end if
      if (nudge == most_nudges) then
        reverse = wrong > 0
        open_row = max(open, wrong)
        return
      end if
    end do
    open_row = 0
@ELSE@
    call close_positions(y, may, .false., residual, open_row)
    if (open_row > 0) return
@END@
    call constraints(closing_time, y, g, slope_g, v, slope_v)
    call free_change(slope_v, v, n_v, may(n_q + 1:), change_u)
    y(n_q + 1:) = y(n_q + 1:) - change_u
    call constraints(closing_time, y, g, slope_g, v, slope_v)
    residual = maxval(abs(v))
    if (residual > tuned_carried*max(1.0_dp, maxval(abs(y(n_q + 1:))))) open_row = n_g + maxloc(abs(v), dim=1)
  end subroutine close_loops

  ! An initial state that closes the loops: what is given is kept; if that cannot be, dependent coordinates are guesses
  ! only;
  ! then everything may move.
  subroutine assemble(y)
    real(dp), intent(inout) :: y(n_s)
    logical, parameter :: guessed(n_s) = [@GUESSED@]
    real(dp) :: found(n_s), residual
    integer :: attempt, open_row, j
    logical :: may(n_s), reverse
    do attempt = 0, 2
      may = attempt == 2 .or. .not. states%given .or. (attempt == 1 .and. guessed)
      found = y
      call close_loops(found, may, residual, open_row, reverse)
      if (open_row > 0) cycle
      do j = 1, n_s
        if (attempt > 0 .and. states(j)%given .and. abs(found(j) - y(j)) > tuned_told) &
          write (output_unit, '(a, g0.6, a, g0.6)') "note: the initial value of " // trim(states(j)%keyword) // &
          " contradicts the constraints; ", found(j)/states(j)%factor, " is used instead of ", y(j)/states(j)%factor
      end do
      y = found
      return
    end do
    if (reverse) then
      call problem(input, 0, "the loop " // trim(row_name(open_row)) // " closes only with its axis the other way " // &
                   "round than it was drawn. Give initial values nearer to the position meant, or turn the axis")
    else
      call problem(input, 0, "the loop " // trim(row_name(open_row)) // " cannot be closed: a residual of " // &
                   trim(number(residual)) // " remains. Check lengths, or give initial values nearer to an assembly")
    end if
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

