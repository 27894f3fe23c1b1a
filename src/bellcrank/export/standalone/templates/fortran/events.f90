  ! ---- events: conditions that are watched from step to step, and what they set

  function event_name(event) result(name)
    integer, intent(in) :: event
    character(len=:), allocatable :: name
    name = ""
    select case (event)
@NAMES@    end select
  end function event_name

  ! Is an event watched for coming to a side of zero?
  logical function comes_to(event, side)
    integer, intent(in) :: event, side
    logical, parameter :: up(n_events) = [@UP@]
    logical, parameter :: down(n_events) = [@DOWN@]
    comes_to = merge(up(event), down(event), side > 0)
  end function comes_to

  ! The side to which zero itself does not belong, if there is one.
  integer function strict_side(event)
    integer, intent(in) :: event
    integer, parameter :: strict(n_events) = [@STRICT@]
    strict_side = strict(event)
  end function strict_side

  logical function stops_run(event)
    integer, intent(in) :: event
    logical, parameter :: stops(n_events) = [@STOPS@]
    stops_run = stops(event)
  end function stops_run

  logical function acts(event)
    integer, intent(in) :: event
    logical, parameter :: any_set(n_events) = [@ACTS@]
    acts = any_set(event)
  end function acts

  ! Of what is set: the event, and the number of a state, or else of a parameter. The last belongs to no event: there is
  ! one in every program.
  subroutine setting(i, event, state, parameter_number)
    integer, intent(in) :: i
    integer, intent(out) :: event, state, parameter_number
    integer, parameter :: places(3, n_settings + 1) = reshape([ &
@SETTINGS@      0, 0, 0], [3, n_settings + 1])
    event = places(1, i)
    state = places(2, i)
    parameter_number = places(3, i)
  end subroutine setting

  ! The value of a condition at a row, in the units of the user.
  function event_condition(event, row) result(value)
    integer, intent(in) :: event
    real(dp), intent(in) :: row(width)
    real(dp) :: value
    value = 0*row(1)
    select case (event)
@CONDITIONS@    end select
  end function event_condition

  ! The value that a setting gives, from the row before the event.
  function event_value(i, row) result(value)
    integer, intent(in) :: i
    real(dp), intent(in) :: row(width)
    real(dp) :: value
    value = 0*row(1)
    select case (i)
@VALUES@    end select
  end function event_value

  ! A number to six digits, as %g of C.
  function six(x) result(text)
    real(dp), intent(in) :: x
    character(len=:), allocatable :: text
    text = digits_of(x, 6)
  end function six

  ! The same to some digits.
  function digits_of(x, n) result(text)
    real(dp), intent(in) :: x
    integer, intent(in) :: n
    character(len=:), allocatable :: text
    character(len=40) :: shown
    character(len=16) :: form
    integer :: e, exponent
    if (.not. ieee_is_finite(x)) then
      text = "nan"
      if (x > 0) text = "inf"
      if (x < 0) text = "-inf"
      return
    end if
    write (form, '("(es40.", i0, "e3)")') n - 1
    write (shown, form) x
    e = index(shown, "E")
    read (shown(e + 1:), *) exponent
    if (exponent < -4 .or. exponent >= n) then
      text = without_zeros(trim(adjustl(shown(:e - 1))))
      write (form, '("e", sp, i0.2)') exponent
      text = text // trim(form)
    else
      write (form, '("(f40.", i0, ")")') n - 1 - exponent
      write (shown, form) x
      text = without_zeros(trim(adjustl(shown)))
    end if
  end function digits_of

  function without_zeros(given) result(text)
    character(len=*), intent(in) :: given
    character(len=:), allocatable :: text
    integer :: n
    text = given
    if (index(text, ".") == 0) return
    n = len(text)
    do while (text(n:n) == "0")
      n = n - 1
    end do
    if (text(n:n) == ".") n = n - 1
    text = text(:n)
  end function without_zeros

  subroutine keep_row(row)
    real(dp), intent(in) :: row(width)
    real(dp), allocatable :: more(:, :)
    integer, parameter :: shown(*) = [integer :: @SHOWN_PLACES@]
    if (n_kept == size(kept_rows, 2)) then
      allocate (more(1 + n_channels, 2*n_kept + 1000))
      more(:, :n_kept) = kept_rows
      call move_alloc(more, kept_rows)
    end if
    n_kept = n_kept + 1
    kept_rows(:, n_kept) = [row(:1 + n_s + n_out), row(1 + n_s + n_out + shown)]
  end subroutine keep_row

@ROW@  ! The time at which inputs are read at the beginning of a step: after all jumps there.
  function begin_time(start) result(at)
    real(dp), intent(in) :: start
    real(dp) :: at
    at = maxval([start, pack(breaks, abs(breaks - start) <= tuned_gap*step)])
  end function begin_time

@IF LOOPS@
  ! What keeps loops closed begins anew at a state.
  subroutine closed_afresh(at, y)
    real(dp), intent(in) :: at, y(n_s)
    near = .false.
    wary = .false.
    n_past = 0
    call begin(at, y)
  end subroutine closed_afresh

@END@
  ! The row at a time within the last step, by a shorter one.
  subroutine event_row_at(at, row)
    real(dp), intent(in) :: at
    real(dp), intent(out) :: row(width)
    real(dp) :: y(n_s), k(n_s), next(n_s), start, finish_time, to, seen, later, begun, length, middle
    character(len=200) :: ended
    logical :: parted, behind_held
@IF LOOPS@
    real(dp) :: held(0:n_u, 3), held_ratio(2)
    integer :: held_past
    logical :: held_near(2)
    held = past
    held_ratio = [ratio, steady]
    held_past = n_past
    held_near = [near, wary]
@END@
    behind_held = behind
    behind = .false.
    y = y_before
    start = step_began
    begun = begin_time(start)
    finish_time = at
@IF LOOPS@
    call closed_afresh(begun, y)
@END@
@IF KNOWN@
    k = k_before
@ELSE@
    call rates(.false., begun, y, k)
@END@
@IF LOOPS@
    call remember(begun, k)
@END@
    ended = ""
    parted = is_parted(step_number, start, finish_time)
    do while (start < finish_time .and. ended == "")
      if (parted) then
        call next_part(start, finish_time, to, seen, later)
      else
        to = finish_time
        seen = to
        later = to
      end if
      length = to - start
      middle = 0.5_dp*(start + to)
      if (.not. (parted .or. abs(to - step_number*step) > 0)) then ! the whole step, as it was taken
        length = step
        middle = (step_number - 0.5_dp)*step
      end if
@IF LOOPS@
      call move(length, start, middle, seen, y, k, next, 0, ended)
@ELSE@
      call advance(length, start, middle, seen, y, k, next)
@END@
      y = next
      if (to < finish_time) call rates(.false., later, y, k)
      start = to
    end do
    call event_row(at, y, 0, row)
    behind = behind_held
@IF LOOPS@
    past = held
    ratio = held_ratio(1)
    steady = held_ratio(2)
    n_past = held_past
    near = held_near(1)
    wary = held_near(2)
@END@
  end subroutine event_row_at

  function event_at_time(event, at) result(value)
    integer, intent(in) :: event
    real(dp), intent(in) :: at
    real(dp) :: value, row(width)
    call event_row_at(at, row)
    value = event_condition(event, row)
  end function event_at_time

  logical function is_over(event, g, side)
    integer, intent(in) :: event, side
    real(dp), intent(in) :: g
    is_over = side*g > 0 .or. (strict_side(event) /= side .and. side*g >= 0)
  end function is_over

  ! By how much rounding changes a condition.
  function event_noise(event, row) result(largest)
    integer, intent(in) :: event
    real(dp), intent(in) :: row(width)
    real(dp) :: largest, g, moved(width)
    integer :: j
    g = event_condition(event, row)
    largest = abs(event_condition(event, row*(1 + tuned_event_rounding)) - g)
    moved = [(row(j)*(1 + tuned_event_rounding*merge(1, -1, mod(j, 2) == 0)), j = 1, width)]
    largest = max(largest, abs(event_condition(event, moved) - g))
  end function event_noise

  ! Would an event change nothing, beyond rounding, at a row?
  logical function is_idle(event, row)
    integer, intent(in) :: event
    real(dp), intent(in) :: row(width)
    real(dp) :: now
    integer :: i, whose, state, place
    is_idle = .true.
    do i = 1, n_settings + 1
      call setting(i, whose, state, place)
      if (whose /= event) cycle
      if (state > 0) then
        now = row(1 + state)/states(state)%factor
      else
        now = parameters(place)%value
      end if
      is_idle = is_idle .and. abs(event_value(i, row) - now) <= tuned_event_rounding*abs(now)
    end do
  end function is_idle

  ! Does an event whose condition is crossed do nothing there? Then it is none: what is closed already is not closed
  ! again, however often what is at rest goes through zero.
  logical function comes_to_nothing(one)
    type(crossing), intent(in) :: one
    real(dp) :: row(width)
    comes_to_nothing = acts(one%event) .and. .not. stops_run(one%event)
    if (.not. comes_to_nothing) return
    call event_row_at(one%time, row)
    comes_to_nothing = is_idle(one%event, row)
    if (comes_to_nothing) call tell_idle(one%event, one%time)
  end function comes_to_nothing

  logical function is_at_zero(event, row, about)
    integer, intent(in) :: event
    real(dp), intent(in) :: row(width), about
    is_at_zero = abs(event_condition(event, row)) <= tuned_event_zero*about + 4*event_noise(event, row)
  end function is_at_zero

  ! Where a condition changes its sign between two times: regula falsi (Illinois), halved where that is slow.
  function zero_between(event, side, first, last, f_first, f_last, small) result(b)
    integer, intent(in) :: event, side
    real(dp), intent(in) :: first, last, f_first, f_last, small
    real(dp) :: a, b, c, fa, fb, fc, wide
    integer :: n
    a = first
    b = last
    fa = f_first
    fb = f_last
    wide = abs(b - a)
    do n = 0, @MOST_LOOKS@ - 1
      c = b - fb*(b - a)/(fb - fa)
      if (mod(n, 2) == 1) then
        if (abs(b - a) > 0.5_dp*wide) c = a + 0.5_dp*(b - a)
        wide = abs(b - a)
      end if
      if (abs(c - b) < 0.5_dp*small) c = b + sign(0.5_dp*small, a - b) ! a little beyond: the zero may lie just there
      if (.not. (min(a, b) < c .and. c < max(a, b))) c = a + 0.5_dp*(b - a)
      fc = side*event_at_time(event, c)
      if ((fc > 0) .eqv. (fb > 0)) then
        fa = fa*0.5_dp
      else
        a = b
        fa = fb
      end if
      b = c
      fb = fc
      if (.not. abs(fc) > 0 .or. abs(b - a) <= small) exit
    end do
  end function zero_between

  ! A condition at a time, which is known at the first and the last.
  function value_between(event, at, first, last, ga, gb) result(g)
    integer, intent(in) :: event
    real(dp), intent(in) :: at, first, last, ga, gb
    real(dp) :: g
    if (.not. at > first) then
      g = ga
    else if (.not. at < last) then
      g = gb
    else
      g = event_at_time(event, at)
    end if
  end function value_between

  ! The time at which a condition comes to a side, between one at which it is not there and one at which it is.
  function crossing_time(event, side, first, last, ga, gb) result(b)
    integer, intent(in) :: event, side
    real(dp), intent(in) :: first, last, ga, gb
    real(dp) :: a, b, small, root, middle, row(width)
    small = 1e-15_dp*max(1.0_dp, abs(last))
    if (side*ga < 0 .and. side*gb > 0) then
      root = zero_between(event, side, first, last, side*ga, side*gb, small)
      middle = value_between(event, root, first, last, ga, gb)
      if (abs(middle) <= tuned_event_jump*min(abs(ga), abs(gb))) then
        b = root
        if (is_over(event, middle, side)) return
        call event_row_at(root, row)
        if (is_at_zero(event, row, max(abs(ga), abs(gb)))) return ! else it would count again
      end if
    end if
    a = first
    b = last
    do while (b - a > small) ! from zero: a jump, or a start
      middle = 0.5_dp*(a + b)
      if (.not. (a < middle .and. middle < b)) exit
      if (is_over(event, value_between(event, middle, first, last, ga, gb), side)) then
        b = middle
      else
        a = middle
      end if
    end do
  end function crossing_time

  subroutine chatters(event, at, how, ended)
    integer, intent(in) :: event
    real(dp), intent(in) :: at
    character(len=*), intent(in) :: how
    character(len=*), intent(inout) :: ended
    ended = "stopped at t = " // six(at) // " s: event '" // event_name(event) // "' acts " // how // &
            ": it chatters. Let its action bring the motion to rest, or end the run (stop=True)"
  end subroutine chatters

  subroutine tell_event(event, at)
    integer, intent(in) :: event
    real(dp), intent(in) :: at
    write (output_unit, '(a)') event_name(event) // " at t = " // six(at) // " s"
  end subroutine tell_event

  subroutine tell_idle(event, at)
    integer, intent(in) :: event
    real(dp), intent(in) :: at
    if (.not. told_idle(event)) &
      write (output_unit, '(a)') "note: event '" // event_name(event) // "' changes nothing at t = " // six(at) // " s"
    told_idle(event) = .true.
  end subroutine tell_idle

  ! Follows a condition that was zero at the start of a stretch to its first sign. What comes back within the step is
  ! found there; `again`: the event acts again and again at one time.
  subroutine leave_zero(event, g, found, n, again)
    integer, intent(in) :: event
    real(dp), intent(in) :: g
    type(crossing), intent(inout) :: found(:)
    integer, intent(inout) :: n
    logical, intent(out) :: again
    real(dp) :: later, around, a, length, at, value
    integer :: i, side
    again = .false.
    later = g
    around = 4*max(event_noise(event, row_before), event_noise(event, row_after)) &
             + tuned_event_zero*at_zero(event)%size
    side = at_zero(event)%side
    if (abs(g) <= around) then
      at_zero(event)%looks = at_zero(event)%looks - 1
      return
    end if
    at_zero(event)%waits = .false.
    if (side*g < 0) return
    a = row_before(1)
    length = row_after(1) - a
    do i = 1, tuned_event_halvings
      at = a + length*0.5_dp**i
      value = event_at_time(event, at)
      if (side*value < -around) then
        n = n + 1
        found(n) = crossing(crossing_time(event, side, at, a + length*0.5_dp**(i - 1), value, later), abs(g), &
                            event, side)
        return
      end if
      later = value
    end do
    again = at_zero(event)%turns .and. at_zero(event)%looks > 0
  end subroutine leave_zero

  logical function comes_before(one, other)
    type(crossing), intent(in) :: one, other
    if (one%time < other%time .or. one%time > other%time) then
      comes_before = one%time < other%time
    else if (one%event /= other%event) then
      comes_before = one%event < other%event
    else
      comes_before = one%side < other%side
    end if
  end function comes_before

  ! Looks at the last step: what is to act, with what was told at that time; when the first that acts or stops does; the
  ! event that stops the run, or 0.
  subroutine look_at_step(fired, n_fired, ends, stops, ended)
    type(crossing), intent(out) :: fired(most_fired)
    integer, intent(out) :: n_fired, stops
    real(dp), intent(out) :: ends
    character(len=*), intent(inout) :: ended
    type(crossing) :: found(2*n_events), one
    real(dp) :: g_before, g_after
    integer :: event, side, n, i, j
    logical :: again
    n = 0
    n_fired = 0
    stops = 0
    ends = huge(ends)
    fired = crossing(0.0_dp, 0.0_dp, 0, 0)
    do event = 1, n_events
      g_before = event_condition(event, row_before)
      g_after = event_condition(event, row_after)
      if (at_zero(event)%waits) then
        call leave_zero(event, g_after, found, n, again)
        if (again) then
          call chatters(event, row_before(1), "again at once", ended)
          return
        end if
        cycle
      end if
      do side = 1, -1, -2
        if (.not. comes_to(event, side) .or. ieee_is_nan(g_before)) cycle
        if (is_over(event, g_before, side) .or. .not. is_over(event, g_after, side)) cycle
        n = n + 1
        found(n) = crossing(crossing_time(event, side, row_before(1), row_after(1), g_before, g_after), &
                            max(abs(g_before), abs(g_after)), event, side)
      end do
    end do
    do i = 2, n ! in order
      do j = i, 2, -1
        if (.not. comes_before(found(j), found(j - 1))) exit
        one = found(j)
        found(j) = found(j - 1)
        found(j - 1) = one
      end do
    end do
    do i = 1, n
      if (ends < huge(ends)) then
        if (found(i)%time > ends + tuned_event_instant*max(1.0_dp, abs(ends))) exit
      end if
      event = found(i)%event
      if (.not. ends < huge(ends)) then
        if (comes_to_nothing(found(i))) cycle
      end if
      if (.not. ends < huge(ends) .and. (stops_run(event) .or. acts(event))) ends = found(i)%time
      n_fired = n_fired + 1
      fired(n_fired) = found(i)
      if (.not. acts(event)) call tell_event(event, found(i)%time)
      if (stops_run(event) .and. stops == 0) stops = event
    end do
    n = n_fired
    n_fired = 0
    if (.not. any([(acts(fired(i)%event), i = 1, n)])) return
    do i = 1, n ! those at the time at which the run goes on: those that only were told, too
      if (fired(i)%time < ends - tuned_event_instant*max(1.0_dp, abs(ends))) cycle
      n_fired = n_fired + 1
      fired(n_fired) = fired(i)
    end do
  end subroutine look_at_step

  ! How fast a condition changes at a state: the difference of rows a little way along its rates.
  function event_rate(event, at, y) result(rate)
    integer, intent(in) :: event
    real(dp), intent(in) :: at, y(n_s)
    real(dp) :: rate, h, along(n_s), row(width), ahead
    h = tuned_event_glance*step
    t = at
@IF INPUTS@
    call set_inputs()
@END@
    live = 0
    call derivatives(y, along)
    call event_row(at + h, y + h*along, 0, row)
    ahead = event_condition(event, row)
    call event_row(at - h, y - h*along, 0, row)
    rate = (ahead - event_condition(event, row))/(2*h)
  end function event_rate

  ! Does what an event does: sets states and parameters at once, closes loops again, and tells the changes.
  subroutine act(event, at, y, row, ended)
    integer, intent(in) :: event
    real(dp), intent(in) :: at, row(width)
    real(dp), intent(inout) :: y(n_s)
    character(len=*), intent(inout) :: ended
    real(dp) :: values(n_settings + 1), old(n_s), earlier(n_settings + 1), from, to
    integer :: i, whose, state, place
    logical :: is_set(n_s), others
    character(len=:), allocatable :: text, lead
    old = y
    is_set = .false.
    others = .false.
    values = 0
    earlier = 0
    do i = 1, n_settings + 1
      call setting(i, whose, state, place)
      if (whose /= event) cycle
      values(i) = event_value(i, row)
      if (.not. ieee_is_finite(values(i))) then
        if (state > 0) then
          text = trim(states(state)%keyword)
        else
          text = trim(parameters(place)%keyword)
        end if
        ended = "stopped at t = " // six(at) // " s, as an event acts: the action of event '" // event_name(event) // &
                "' sets " // text // " to " // six(values(i)) // ", not a finite number"
        return
      end if
    end do
    do i = 1, n_settings + 1
      call setting(i, whose, state, place)
      if (whose /= event) cycle
      if (state > 0) then
        y(state) = values(i)*states(state)%factor
        is_set(state) = .true.
      else
        earlier(i) = parameters(place)%value
        others = others .or. abs(earlier(i) - values(i)) > 0
        parameters(place)%value = values(i)
      end if
    end do
    if (others) then
      call find_parameters(y)
      if (.not. all(ieee_is_finite(c))) then
        ended = "stopped at t = " // six(at) // " s, as an event acts: event '" // event_name(event) // &
                "': the constants of the model cannot be computed: may a mass, inertia or length be zero?"
        return
      end if
    end if
    were_set = were_set .or. others
@IF LOOPS@
    block
      logical, parameter :: follows(n_s) = [@FOLLOWS@]
      real(dp) :: closed(n_s), residual, left
      integer :: attempt, open_row, first_open
      logical :: reverse
      closing_time = at
      @NUDGES@
      first_open = 0
      left = 0
      do attempt = 1, 2
        closed = y
        call close_loops(closed, .not. is_set .and. (attempt == 2 .or. follows), residual, open_row, reverse)
        if (open_row == 0) exit
        if (attempt == 1) then
          first_open = open_row
          left = residual
        end if
      end do
      if (open_row > 0) then
        ended = "stopped at t = " // six(at) // " s, as an event acts: event '" // event_name(event) // "' sets " // &
                "states against the constraints: a residual of " // digits_of(left, 3) // " remains in " // &
                trim(row_name(first_open))
        return
      end if
      y = closed
    end block
@END@
    text = event_name(event) // " at t = " // six(at) // " s"
    lead = ": "
    do i = 1, n_settings + 1
      call setting(i, whose, state, place)
      if (whose /= event) cycle
      if (state > 0) then
        from = old(state)/states(state)%factor
        to = y(state)/states(state)%factor
        text = text // lead // change(states(state), from, to)
      else
        from = earlier(i)
        to = values(i)
        text = text // lead // change(parameters(place), from, to)
      end if
      lead = ", "
    end do
    do i = 1, n_s
      if (is_set(i) .or. .not. abs(y(i) - old(i)) > tuned_event_followed*max(abs(y(i)), abs(old(i)))) cycle
      text = text // lead // change(states(i), old(i)/states(i)%factor, y(i)/states(i)%factor)
    end do
    write (output_unit, '(a)') text
  end subroutine act

  function change(q, from, to) result(text)
    type(quantity), intent(in) :: q
    real(dp), intent(in) :: from, to
    character(len=:), allocatable :: text
    text = trim(q%keyword) // " " // six(from) // " -> " // six(to)
    if (q%unit /= "-" .and. q%unit /= "?") text = text // " " // trim(q%unit)
  end function change

  ! Keeps the book of actions: too many in too short a time end the run.
  subroutine note_action(event, at, pushed, ended)
    integer, intent(in) :: event
    real(dp), intent(in) :: at
    logical, intent(in) :: pushed
    character(len=*), intent(inout) :: ended
    real(dp) :: last, first
    integer :: n
    n = acted(event)
    acted(event) = n + 1
    last = acted_at(modulo(n - 1, tuned_event_most + 1), event)
    first = acted_at(modulo(n - tuned_event_most, tuned_event_most + 1), event)
    acted_at(modulo(n, tuned_event_most + 1), event) = at
    if (.not. pushed .and. n > 0 .and. at - last < tuned_event_soon*step) then
      call chatters(event, at, "again at once", ended)
    end if
    if (n < tuned_event_most .or. .not. at - first < min(step, tuned_event_span*t_end)) return
    if (at > first) then
      call chatters(event, at, whole(tuned_event_most) // " times within " // digits_of(at - first, 2) // " s", ended)
    else
      call chatters(event, at, "again and again", ended)
    end if
  end subroutine note_action

  ! Does an action turn a condition back, by its rates to the side it came to? A rate against that side is rounding,
  ! where a motion only just comes there: what is not faster after the action came to rest there.
  logical function turns_back(before, after)
    real(dp), intent(in) :: before, after
    turns_back = .not. after > merge(tuned_event_still, 1.0_dp, before > 0.0_dp)*abs(before)
  end function turns_back

  ! How fast the conditions change that are zero at a row, but for a share of their sizes.
  subroutine rates_at_zero(at, row, y, sizes, zero, found)
    real(dp), intent(in) :: at, row(width), y(n_s), sizes(n_events)
    logical, intent(out) :: zero(n_events)
    real(dp), intent(out) :: found(n_events)
    integer :: i
    do i = 1, n_events
      found(i) = 0
      zero(i) = strict_side(i) == 0
      if (zero(i)) zero(i) = is_at_zero(i, row, sizes(i))
      if (zero(i)) found(i) = event_rate(i, at, y)
    end do
  end subroutine rates_at_zero

  ! Lets all events at the time of a row act, and those that they bring about. `row` becomes the one after them, y its
  ! state.
  subroutine let_act(fired, n_fired, stops, row, y, ended)
    type(crossing), intent(inout) :: fired(most_fired)
    integer, intent(inout) :: n_fired, stops
    real(dp), intent(inout) :: row(width), y(n_s)
    character(len=*), intent(inout) :: ended
    real(dp) :: values(n_events), rates_before(most_fired), sizes(n_events), standing(n_events), leaving(n_events)
    real(dp) :: at, g, small
    integer :: done, event, i, side, came(n_events)
    logical :: busy(n_events), idle(most_fired), stood(n_events), stands(n_events)
    at = row(1)
    busy = .false.
    rates_before = 0
    sizes = 0
    came = 0
    do i = 1, n_fired
      busy(fired(i)%event) = .true.
      sizes(fired(i)%event) = fired(i)%size
      came(fired(i)%event) = fired(i)%side
    end do
    done = 0
    do while (done < n_fired)
      done = done + 1
      event = fired(done)%event
      if (.not. acts(event)) then
        idle(done) = .true.
        cycle
      end if
      idle(done) = is_idle(event, row)
      if (idle(done) .and. .not. stops_run(event)) then
        call tell_idle(event, at)
        fired(done:n_fired - 1) = fired(done + 1:n_fired)
        n_fired = n_fired - 1
        done = done - 1
        cycle
      end if
      rates_before(done) = event_rate(event, at, y)
      values = [(event_condition(i, row), i = 1, n_events)]
      call rates_at_zero(at, row, y, sizes, stood, standing)
      call act(event, at, y, row, ended)
      if (ended /= "") then
        refused = .true.
        return
      end if
      call event_row(at, y, 0, row)
      if (idle(done)) then
        call tell_idle(event, at)
      else
        call note_action(event, at, fired(done)%pushed, ended)
      end if
      if (ended /= "") return
      do i = 1, n_events
        do side = 1, -1, -2
          if (busy(i) .or. .not. comes_to(i, side) .or. ieee_is_nan(values(i))) cycle
          g = event_condition(i, row)
          if (is_over(i, values(i), side) .or. .not. is_over(i, g, side)) cycle
          if (strict_side(i) == 0 .and. is_at_zero(i, row, 0.0_dp)) then
            at_zero(i) = wait_at_zero(.true., .false., side, 2, max(abs(values(i)), abs(g)))
            cycle
          end if
          if (stops_run(i) .and. stops == 0) stops = i
          if (acts(i)) then
            n_fired = n_fired + 1
            fired(n_fired) = crossing(at, max(abs(values(i)), abs(g)), i, side)
            busy(i) = .true.
            sizes(i) = fired(n_fired)%size
            came(i) = side
          else
            call tell_event(i, at)
          end if
        end do
      end do
      ! conditions that stand at zero and leave it to a side as the action has changed their rates
      call rates_at_zero(at, row, y, sizes, stands, leaving)
      small = 0
      do i = 1, n_events
        if (abs(standing(i)) > small) small = abs(standing(i))
        if (abs(leaving(i)) > small) small = abs(leaving(i))
      end do
      small = tuned_event_still*small
      do i = 1, n_events
        do side = 1, -1, -2
          if (.not. (comes_to(i, side) .and. stood(i) .and. stands(i)) .or. came(i) == -side) cycle
          if (any(fired(done + 1:n_fired)%event == i)) cycle
          if (.not. (side*standing(i) <= small .and. side*leaving(i) > small)) cycle
          if (stops_run(i) .and. stops == 0) stops = i
          if (.not. acts(i)) then
            call tell_event(i, at)
          else if (n_fired == most_fired) then
            call chatters(i, at, "again and again", ended)
            return
          else
            n_fired = n_fired + 1
            fired(n_fired) = crossing(at, sizes(i), i, side, .true.)
            came(i) = side
          end if
        end do
      end do
    end do
    do i = 1, n_events
      if (at_zero(i)%waits) at_zero(i)%waits = is_at_zero(i, row, at_zero(i)%size)
    end do
    do i = 1, done
      if (.not. is_at_zero(fired(i)%event, row, fired(i)%size)) cycle
      g = fired(i)%side*event_rate(fired(i)%event, at, y)
      at_zero(fired(i)%event) = wait_at_zero(.true., .not. idle(i) .and. turns_back(fired(i)%side*rates_before(i), g), &
                                             fired(i)%side, 2, fired(i)%size)
    end do
  end subroutine let_act

  ! Takes the steps of a run, lets events act, and begins again at each that does.
  subroutine watch_run(total, y, k, reached, ended)
    integer, intent(in) :: total
    real(dp), intent(inout) :: y(n_s), k(n_s)
    integer, intent(out) :: reached
    character(len=*), intent(inout) :: ended
    type(crossing) :: fired(most_fired)
    real(dp) :: w_before(n_w), memory_before(n_memory), w_after(n_w), memory_after(n_memory), start, ends
    integer :: n_fired, stops
    allocate (kept_rows(1 + n_channels, total/every + 100))
    call event_row(0.0_dp, y, 2, row_before)
    call keep_row(row_before)
    reached = 0
    start = 0
    do while (reached < total)
      reached = reached + 1
      step_number = reached
      step_began = start
      y_before = y
      k_before = k
      w_before = w
      memory_before = memory
      call take_step(reached, total, start, y, k, ended)
      if (ended /= "") return
      call event_row(merge(t_end, reached*step, reached == total), y, 2, row_after)
      w_after = w
      memory_after = memory
      w = w_before
      memory = memory_before
      call look_at_step(fired, n_fired, ends, stops, ended)
      if (ended /= "") return
      if (.not. ends < huge(ends)) then
        w = w_after
        memory = memory_after
        if (mod(reached, every) == 0 .or. reached == total) call keep_row(row_after)
        row_before = row_after
        start = reached*step
        cycle
      end if
      call event_row_at(ends, row_before)
      call keep_row(row_before)
      y = row_before(2:1 + n_s)
      if (n_fired > 0) then
        call let_act(fired, n_fired, stops, row_before, y, ended)
        if (.not. refused) call keep_row(row_before)
      end if
      if (stops > 0 .and. ended == "") &
        ended = "stopped by event '" // event_name(stops) // "' at t = " // six(ends) // " s"
      if (ended /= "" .or. ends >= t_end) return
      reached = floor(ends/step + tuned_gap)
      start = ends
      call begin_again(start, y, k)
    end do
  end subroutine watch_run

  ! Begins again from a state, with nothing behind it.
  subroutine begin_again(start, y, k)
    real(dp), intent(in) :: start
    real(dp), intent(inout) :: y(n_s)
    real(dp), intent(out) :: k(n_s)
    real(dp) :: at
    at = begin_time(start)
@IF LOOPS@
    if (were_set) call find_metric(start, y)
    call closed_afresh(at, y)
@END@
    were_set = .false.
    behind = .false.
    call rates(.false., at, y, k)
@IF LOOPS@
    call remember(at, k)
@END@
  end subroutine begin_again

