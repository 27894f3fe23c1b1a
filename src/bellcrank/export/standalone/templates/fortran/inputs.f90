  ! ---- inputs over time

  ! Points of an input: lines of time and value, or of time and the four coefficients of a cubic piece.
  subroutine read_points(s, name, from, from_line)
    type(signal), intent(inout) :: s
    character(len=*), intent(in) :: name, from
    integer, intent(in) :: from_line
    character(len=longest_line) :: text, word
    character(len=512) :: path
    real(dp) :: row(5)
    real(dp), allocatable :: x(:), a(:, :)
    integer :: handle, line, columns, found, i, n
    logical :: more, ok
    call open_named(name, from, path, handle, more)
    if (.not. more) then
      call problem(from, from_line, "cannot read " // trim(name))
      return
    end if
    s%kind = "file"
    s%file = path
    allocate (x(64), a(4, 64))
    n = 0
    columns = 0
    line = 0
    ok = .true.
    do while (ok)
      call read_line(handle, text, more)
      if (.not. more) exit
      line = line + 1
      if (text == "" .or. text(1:1) == "*") cycle
      do i = 1, len_trim(text)
        if (text(i:i) == ",") text(i:i) = " "
      end do
      found = 0
      do while (text /= "" .and. ok)
        call next_word(text, word)
        found = found + 1
        ok = found <= 5
        if (ok) call read_number(word, row(found), ok)
      end do
      if (columns == 0) columns = found
      ok = ok .and. found == columns .and. (columns == 2 .or. columns == 5)
      if (ok .and. n > 0) ok = row(1) > x(n)
      if (.not. ok) then
        call problem(path, line, &
                     "expected a time later than the one before and a value, or a time and four coefficients")
        exit
      end if
      n = n + 1
      if (n > size(x)) then
        x = [x, x]
        a = reshape(a, [4, size(x)], pad=a)
      end if
      x(n) = row(1)
      a(:, n) = 0
      a(:columns - 1, n) = row(2:columns)
    end do
    close (handle)
    if (ok .and. n < 2) call problem(path, 0, "an input needs at least two points")
    s%straight = columns == 2
    do i = 1, n - 1
      if (s%straight) a(2, i) = (a(1, i + 1) - a(1, i))/(x(i + 1) - x(i))
    end do
    s%x = x(:n)
    s%pieces = reshape(a(:, :max(n - 1, 0)), [4*max(n - 1, 0)])
  end subroutine read_points

  ! A number, or a kind of signal with its numbers, or a file; `known` tells if the keyword is an input.
  subroutine read_input(keyword, rest, path, line, known)
    character(len=*), intent(in) :: keyword, rest, path
    integer, intent(in) :: line
    logical, intent(out) :: known
    character(len=longest_line) :: text, word, kind
    integer :: i, j, k
    logical :: ok
    known = .false.
    do i = 1, size(signals)
      if (plain(signals(i)%keyword) /= keyword) cycle
      known = .true.
      text = rest
      call next_word(text, kind)
      call read_number(kind, signals(i)%a(1), ok)
      if (ok) then
        signals(i)%kind = "constant"
        return
      end if
      kind = plain(kind)
      if (kind == "file") then
        call next_word(text, word)
        if (word == "") then
          call problem(path, line, trim(keyword) // " needs the name of a file")
        else
          call read_points(signals(i), trim(word), path, line)
        end if
        return
      end if
      do k = 1, size(kinds)
        if (kind /= kinds(k)) cycle
        do j = 1, kind_numbers(k)
          call next_word(text, word)
          call read_number(word, signals(i)%a(j), ok)
          if (ok) cycle
          call problem(path, line, &
                       trim(keyword) // ": " // trim(kind) // " needs " // whole(kind_numbers(k)) // " numbers")
          return
        end do
        do j = 1, size(positive_kinds)
          if (kind /= positive_kinds(j)) cycle
          if (.not. signals(i)%a(positive_numbers(j)) > 0) call problem(path, line, &
            trim(keyword) // ": the " // trim(positive_names(j)) // " of a " // trim(kind) // " must be positive")
        end do
        signals(i)%kind = kinds(k)
        return
      end do
      call problem(path, line, trim(keyword) // " needs a number, " // &
                   @KIND_LIST@ // " or file, found '" // trim(kind) // "'")
    end do
  end subroutine read_input

  subroutine echo_inputs(handle)
    integer, intent(in) :: handle
    character(len=:), allocatable :: text
    character(len=32) :: shown
    character(len=15) :: word
    integer :: i, j, k
    write (handle, '(a)') "", "* inputs"
    do i = 1, size(signals)
      word = signals(i)%keyword
      text = word // " " // trim(signals(i)%kind)
      if (len_trim(signals(i)%keyword) > 15) text = trim(signals(i)%keyword) // " " // trim(signals(i)%kind)
      if (signals(i)%kind == "file") text = text // " " // trim(signals(i)%file)
      do k = 1, size(kinds)
        if (signals(i)%kind /= kinds(k)) cycle
        do j = 1, kind_numbers(k)
          shown = number(signals(i)%a(j))
          text = text // " " // trim(shown)
        end do
      end do
      write (handle, '(a)') text // "   " // trim(signals(i)%unit) // "  " // trim(signals(i)%label)
    end do
  end subroutine echo_inputs

  ! What is missing or too short is told.
  subroutine check_inputs()
    integer :: i, k, n
    do i = 1, size(signals)
      if (signals(i)%kind == "") call problem(input, 0, "no input is given for " // trim(signals(i)%keyword))
      if (signals(i)%kind /= "file" .or. .not. signals(i)%straight) cycle
      n = size(signals(i)%x)
      if (n < 2) cycle
      if (signals(i)%x(1) > 0 .or. signals(i)%x(n) < t_end*(1 - tuned_known)) &
        call problem(signals(i)%file, 0, trim(signals(i)%keyword) // " is not known for the whole run")
    end do
    do i = 1, n_i
      associate (s => signals(input_signal(i)))
        do k = 1, size(kinds)
          if (s%kind == kinds(k) .and. input_rate(i) > kind_smooth(k)) call problem(input, 0, trim(s%keyword) // &
            " must be differentiable" // trim(merge(" twice", "      ", input_rate(i) == 2)) // &
            ": a " // trim(s%kind) // " is not")
        end do
        if (input_rate(i) == 2 .and. s%kind == "file" .and. s%straight) call problem(input, 0, &
          trim(s%keyword) // " must be differentiable twice: straight lines are not")
      end associate
    end do
  end subroutine check_inputs

  ! A signal, or its rate of change, at a time in its own unit.
  function signal_value(s, slope, at) result(value)
    type(signal), intent(in) :: s
    integer, intent(in) :: slope
    real(dp), intent(in) :: at
    real(dp), parameter :: two_pi = 6.283185307179586_dp
    real(dp) :: value, @SIGNAL_LETS@
    associate (a => s%a)
      select case (s%kind)
@SIGNAL_CASES@      case ("file")
        value = spline_value(s%x, s%pieces, slope, at)
      case default
        value = 0
      end select
    end associate
  end function signal_value

  ! Times in order at which inputs jump or have a kink. An input with more of them than there are steps is taken as
  ! smooth.
  subroutine find_breaks(steps)
    integer, intent(in) :: steps
    real(dp), allocatable :: some(:), slopes(:)
    real(dp) :: next
    integer :: i, k, n
    breaks = [real(dp) ::]
    do i = 1, size(signals)
      associate (s => signals(i))
        select case (s%kind)
@BREAK_CASES@        case ("file")
          some = [real(dp) ::]
          n = size(s%x)
          if (s%straight) then
            slopes = [(s%pieces(4*k - 2), k = 1, n - 1)]
            some = pack(s%x(2:n - 1), abs(slopes(2:) - slopes(:n - 2)) > tuned_kink*maxval(abs(slopes)))
          end if
        case default
          some = [real(dp) ::]
        end select
      end associate
      some = pack(some, some > 0 .and. some <= t_end)
      if (size(some) <= steps) breaks = [breaks, some]
    end do
    do i = 1, size(breaks) ! in order
      k = i - 1 + minloc(breaks(i:), dim=1)
      next = breaks(k)
      breaks(k) = breaks(i)
      breaks(i) = next
    end do
  end subroutine find_breaks

  subroutine set_inputs()
    integer :: i
    do i = 1, n_i
      w(i) = signals(input_signal(i))%factor*signal_value(signals(input_signal(i)), input_rate(i), t)
    end do
  end subroutine set_inputs

