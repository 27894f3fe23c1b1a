! @TITLE@: a complete simulation program. Written by Bellcrank.
!
!     @STEM@ [options] [PARSFILE]
!
! reads parameters, initial values and inputs from a parameter file (default: @STEM@.par), writes an echo of all of them
! that is itself a parameter file, runs, and writes every channel over time. `@STEM@ --help` lists the options.
! The equations of motion are in model.f90. Files are in the units named there; equations use rad and consistent units;
! `factor` leads from the one to the other.
@ABOUT@program simulation_program
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit, int32, real32
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite@ALSO_NAN@
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  use model
  implicit none

  integer, parameter :: fine = 0, input_error = 1, usage_error = 2, ended_early = 4 ! exit codes
  integer, parameter :: erd = 0, erd_binary = 1, erd_classic = 2, csv = 3
  integer, parameter :: longest_line = 4096

  type :: quantity
    character(len=@KEYWORD_LENGTH@) :: keyword
    character(len=@UNIT_LENGTH@) :: unit
    character(len=@LABEL_LENGTH@) :: label
    real(dp) :: factor ! one of the unit is so many equation units
    real(dp) :: value  ! in that unit
    logical :: given
  end type quantity

  type :: channel
    character(len=@NAME_LENGTH@) :: name
    character(len=8) :: short
    character(len=@UNIT_LENGTH@) :: unit
    character(len=@LABEL_LENGTH@) :: label
    character(len=@GENERIC_LENGTH@) :: generic
    character(len=@BODY_LENGTH@) :: body
    real(dp) :: factor
  end type channel

  interface
    subroutine leave(code) bind(c, name="exit")
      import :: c_int
      integer(c_int), value :: code
    end subroutine leave
  end interface

  character(len=*), parameter :: stem = @STEM_STRING@
  character(len=*), parameter :: model_title = &
    @TITLE_STRING@
  @METHOD_NAMES@
  character(len=*), parameter :: removed = @REMOVED@ ! speeds that constraints determine: they cannot be given

  integer, parameter :: n_given = @N_GIVEN@, n_channels = @N_CHANNELS@
  type(quantity), allocatable :: parameters(:)
  type(quantity) :: states(n_s)
  type(channel) :: channels(n_channels)
  character(len=512) :: title, input, echo, output
  real(dp) :: t_end, step
  real(dp) :: k_old(n_s) ! rates at the beginning of the step before ...
  logical :: behind = .false. ! ... if it was a whole one and nothing was changed since, and the method needs them
  real(dp), allocatable :: breaks(:) ! times in order at which inputs jump or have a kink: steps are split there
  integer :: every, method, layout, problems
@TUNING@@DECLARATIONS@
  title = model_title
  t_end = @T_END@
  step = @STEP@
  every = @EVERY@
  method = @METHOD@
  problems = 0
  call describe()
  call read_command_line()
  call check_values()
  call stop_if_problems()
  call simulate()

contains

  ! ---- what is known of the model: keyword, unit, label, factor to equation units, value, is the value given?

  subroutine describe()
    allocate (parameters(n_given + @N_OWN@))
@DESCRIBE@  end subroutine describe

  ! ---- what goes wrong is collected and told before anything runs

  subroutine problem(path, line, text)
    character(len=*), intent(in) :: path, text
    integer, intent(in) :: line
    character(len=24) :: place
    place = ""
    if (line > 0) write (place, '(", line ", i0)') line
    if (path /= "") then
      write (error_unit, '(a)') stem // ": " // trim(path) // trim(place) // ": " // text
    else
      write (error_unit, '(a)') stem // ": " // text
    end if
    problems = problems + 1
  end subroutine problem

  subroutine stop_if_problems()
    if (problems > 0) call finish(input_error)
  end subroutine stop_if_problems

  ! ---- result files: written beside their place, and moved there when they are whole

  function beside(path) result(part)
    character(len=*), intent(in) :: path
    character(len=:), allocatable :: part
    part = trim(path)
    if (index(part, "/dev/") /= 1) part = part // ".part"
  end function beside

  ! Moves a file to its place, or removes it if something went wrong. Some systems do not move onto what is there.
  subroutine put(path)
    interface
      integer(c_int) function move(old, new) bind(c, name="rename")
        import :: c_char, c_int
        character(kind=c_char), intent(in) :: old(*), new(*)
      end function move
      integer(c_int) function delete(old) bind(c, name="remove")
        import :: c_char, c_int
        character(kind=c_char), intent(in) :: old(*)
      end function delete
    end interface
    character(len=*), intent(in) :: path
    character(len=:), allocatable :: part
    integer(c_int) :: failed
    part = beside(path)
    if (part == trim(path)) return
    if (problems > 0) then
      failed = delete(part // c_null_char)
      return
    end if
    failed = move(part // c_null_char, trim(path) // c_null_char)
    if (failed /= 0) then
      failed = delete(trim(path) // c_null_char)
      failed = move(part // c_null_char, trim(path) // c_null_char)
    end if
    if (failed /= 0) call problem(path, 0, "this file cannot be written")
  end subroutine put

  subroutine finish(code)
    integer, intent(in) :: code
    flush (output_unit)
    flush (error_unit)
    call leave(int(code, c_int))
  end subroutine finish

  ! ---- small things about text

  ! Small letters, without blanks.
  pure function plain(text) result(small)
    character(len=*), intent(in) :: text
    character(len=len(text)) :: small
    integer :: i, n
    small = ""
    n = 0
    do i = 1, len_trim(text)
      if (text(i:i) == " ") cycle
      n = n + 1
      small(n:n) = text(i:i)
      if (text(i:i) >= "A" .and. text(i:i) <= "Z") small(n:n) = achar(iachar(text(i:i)) + 32)
    end do
  end function plain

  ! The next word of a text, which then begins after it; blank if there is none.
  subroutine next_word(text, word)
    character(len=*), intent(inout) :: text
    character(len=*), intent(out) :: word
    integer :: n
    text = adjustl(text)
    n = index(text // " ", " ") - 1
    word = text(:n)
    text = text(n + 1:)
  end subroutine next_word

  ! A finite number as C and Fortran write it: 1.5, 2E-3, 1D0.
  subroutine read_number(word, value, ok)
    character(len=*), intent(in) :: word
    real(dp), intent(inout) :: value
    logical, intent(out) :: ok
    integer :: i, n, digits, exponent, ios
    logical :: point
    real(dp) :: x
    n = len_trim(word)
    digits = 0
    exponent = -1 ! digits of the exponent, -1 before it
    point = .false.
    ok = n > 0
    do i = 1, n
      select case (word(i:i))
      case ("0":"9")
        if (exponent >= 0) then
          exponent = exponent + 1
        else
          digits = digits + 1
        end if
      case ("+", "-")
        if (i > 1) ok = ok .and. scan(word(max(i - 1, 1):max(i - 1, 1)), "eEdD") == 1
      case (".")
        ok = ok .and. .not. point .and. exponent < 0
        point = .true.
      case ("e", "E", "d", "D")
        ok = ok .and. exponent < 0 .and. digits > 0
        exponent = 0
      case default
        ok = .false.
      end select
    end do
    ok = ok .and. digits > 0 .and. exponent /= 0
    if (.not. ok) return
    read (word, *, iostat=ios) x
    ok = ios == 0
    if (ok) ok = ieee_is_finite(x)
    if (ok) value = x
  end subroutine read_number

  ! A short text that is read back as the same number.
  function number(x) result(text)
    real(dp), intent(in) :: x
    character(len=32) :: text
    character(len=10) :: form
    character(len=32) :: tail
    real(dp) :: back
    integer :: digits, n, e, dot, ios
    do digits = 15, 17
      write (form, '("(g0.", i0, ")")') digits
      write (text, form) x
      read (text, *, iostat=ios) back
      if (ios == 0 .and. back <= x .and. back >= x) exit
    end do
    e = index(text // "E", "E") ! zeros before the exponent say nothing
    n = e - 1
    if (e > len(text)) n = len_trim(text)
    tail = text(n + 1:)
    do while (n > 2)
      if (text(n:n) /= "0" .or. text(n - 1:n - 1) == ".") exit
      n = n - 1
    end do
    select case (tail)
    case ("E-1", "E-2", "E-3") ! no exponent: the digits move behind zeros
      read (tail(3:3), '(i1)') e
      dot = index(text, ".")
      text = text(:dot) // repeat("0", e) // text(dot + 1:n)
    case default
      text = text(:n) // tail
    end select
  end function number

  function whole(i) result(text)
    integer, intent(in) :: i
    character(len=:), allocatable :: text
    character(len=24) :: digits
    write (digits, '(i0)') i
    text = trim(digits)
  end function whole

@INPUTS@  ! ---- the parameter file

  subroutine read_value(q, word, path, line)
    type(quantity), intent(inout) :: q
    character(len=*), intent(in) :: word, path
    integer, intent(in) :: line
    logical :: ok
    call read_number(word, q%value, ok)
    if (ok) then
      q%given = .true.
    else
      call problem(path, line, trim(q%keyword) // " needs a number, found '" // trim(word) // "'")
    end if
  end subroutine read_value

  ! The number of a state by its keyword, or by its number: Q(1), U(2). 0 if there is none.
  function state_of(keyword) result(found)
    character(len=*), intent(in) :: keyword
    integer :: found, i, n, ios
    found = 0
    do i = 1, n_s
      if (plain(states(i)%keyword) == keyword) found = i
    end do
    n = len_trim(keyword)
    if (found > 0 .or. n < 4) return
    if ((keyword(:2) /= "q(" .and. keyword(:2) /= "u(") .or. keyword(n:n) /= ")") return
    if (verify(keyword(3:n - 1), "0123456789") > 0 .or. n > 11) return
    read (keyword(3:n - 1), *, iostat=ios) i
    if (ios /= 0 .or. i < 1) return
    if (keyword(1:1) == "q" .and. i <= n_q) found = i
    if (keyword(1:1) == "u" .and. i <= n_u) found = n_q + i
  end function state_of

  ! Settings of the run; `known` tells if the keyword is one of them.
  subroutine read_setting(keyword, word, path, line, known)
    character(len=*), intent(in) :: keyword, word, path
    integer, intent(in) :: line
    logical, intent(out) :: known
    real(dp) :: value
    logical :: ok
    integer :: i
    known = .true.
    select case (keyword)
    case ("method")
      do i = 1, size(methods)
        if (plain(word) == methods(i)) then
          method = i
          return
        end if
      end do
      call problem(path, line, "the method is @METHOD_LIST@, found '" // trim(word) // "'")
    case ("stopt", "step", "iprint")
      value = 0
      call read_number(word, value, ok)
      if (.not. ok .or. value <= 0) then
        call problem(path, line, keyword // " needs a positive number, found '" // trim(word) // "'")
      else if (keyword == "stopt") then
        t_end = value
      else if (keyword == "step") then
        step = value
      else if (value < 1 .or. value > 1.0e9_dp .or. abs(value - anint(value)) > 0) then
        call problem(path, line, "iprint needs a whole number of at least 1, found '" // trim(word) // "'")
      else
        every = nint(value)
      end if
    case default
      known = .false.
    end select
  end subroutine read_setting

  subroutine read_entry(keyword, rest, path, line)
    character(len=*), intent(in) :: keyword, path
    character(len=*), intent(inout) :: rest
    integer, intent(in) :: line
    character(len=longest_line) :: word
    logical :: known
    integer :: i
@IF INPUTS@
    call read_input(keyword, rest, path, line, known)
    if (known) return
@END@
    call next_word(rest, word)
    do i = 1, size(parameters)
      if (plain(parameters(i)%keyword) == keyword) then
        call read_value(parameters(i), word, path, line)
        return
      end if
    end do
    i = state_of(keyword)
    if (i > 0) then
      call read_value(states(i), word, path, line)
    else if (index(plain(removed), "|" // trim(keyword) // "|") > 0) then
      call problem(path, line, trim(keyword) // " follows from a constraint and cannot be given")
    else
      call read_setting(trim(keyword), word, path, line, known)
      if (.not. known) &
        call problem(path, line, "no keyword is called '" // trim(keyword) // "'; " // stem // ".par has all of them")
    end if
  end subroutine read_entry

  ! The keyword of a line, which may hold blanks within parentheses, and what follows it.
  subroutine split_keyword(content, keyword, rest)
    character(len=*), intent(in) :: content
    character(len=*), intent(out) :: keyword, rest
    integer :: last, opening, closing
    last = index(content // " ", " ") - 1
    opening = index(content, "(")
    closing = index(content, ")")
    if (opening > 0 .and. opening <= last .and. closing > last) last = closing
    keyword = plain(content(:last))
    rest = adjustl(content(last + 1:))
  end subroutine split_keyword

  ! Opens a file named in another one: beside it, or else where the program runs.
  subroutine open_named(name, from, path, handle, ok)
    character(len=*), intent(in) :: name, from
    character(len=*), intent(out) :: path
    integer, intent(out) :: handle
    logical, intent(out) :: ok
    integer :: ios
    path = name
    if (name(1:1) /= "/") path = from(:index(from, "/", back=.true.)) // name
    open (newunit=handle, file=trim(path), status="old", action="read", iostat=ios)
    if (ios /= 0) then
      path = name
      open (newunit=handle, file=trim(path), status="old", action="read", iostat=ios)
    end if
    ok = ios == 0
  end subroutine open_named

  ! The next line of a file without tabs and line ends; `more` is false after the last.
  subroutine read_line(handle, text, more)
    integer, intent(in) :: handle
    character(len=*), intent(out) :: text
    logical, intent(out) :: more
    integer :: i, ios
    read (handle, '(a)', iostat=ios) text
    more = ios == 0
    do i = 1, len_trim(text)
      if (iachar(text(i:i)) < 32) text(i:i) = " "
    end do
    text = adjustl(text)
  end subroutine read_line

  ! Reads a parameter file, and those it names in their places.
  recursive subroutine read_parsfile(name, from, from_line, depth)
    character(len=*), intent(in) :: name, from
    integer, intent(in) :: from_line, depth
    character(len=longest_line) :: text, keyword, rest
    character(len=512) :: path
    integer :: handle, line
    logical :: begun, more
    if (depth >= 20) then
      call problem(from, from_line, "parameter files name each other more than 20 deep")
      return
    end if
    call open_named(name, from, path, handle, more)
    if (.not. more) then
      inquire (file=trim(path), opened=begun)
      if (begun) then
        call problem(from, from_line, "parameter files name each other in a circle: " // trim(name))
      else
        call problem(from, from_line, "cannot read " // trim(name))
      end if
      return
    end if
    begun = .false.
    line = 0
    do
      call read_line(handle, text, more)
      if (.not. more) exit
      line = line + 1
      if (line == 1 .and. text(1:3) == char(239) // char(187) // char(191)) text = adjustl(text(4:))
      if (len_trim(text) == longest_line) then
        call problem(path, line, "the line is longer than " // whole(longest_line - 1) // " characters")
        exit
      end if
      if (text == "" .or. text(1:1) == "*") cycle
      call split_keyword(text, keyword, rest)
      if (.not. begun) then
        if (keyword /= "parsfile" .or. rest /= "") then
          call problem(path, line, "a parameter file begins with the line PARSFILE")
          exit
        end if
        begun = .true.
        cycle
      end if
      select case (keyword)
      case ("end")
        exit
      case ("title")
        title = rest(:len(title))
      case ("parsfile")
        if (rest == "") then
          call problem(path, line, "PARSFILE needs the name of a file")
        else
          call read_parsfile(trim(rest), path, line, depth + 1)
        end if
      case default
        call read_entry(keyword, rest, path, line)
      end select
    end do
    if (.not. begun .and. problems == 0) &
      call problem(path, 0, "a parameter file begins with the line PARSFILE; this one is empty")
    close (handle)
  end subroutine read_parsfile

  ! ---- the echo file: a parameter file with everything as it was used

  subroutine echo_line(handle, keyword, value, unit, label)
    integer, intent(in) :: handle
    character(len=*), intent(in) :: keyword, unit, label
    real(dp), intent(in) :: value
    character(len=32) :: shown
    character(len=15) :: word
    if (layout == erd_classic) then
      write (handle, '(a, g13.6, 2x, a)') field(keyword, max(8, len_trim(keyword))), value, &
        trim(label) // " (" // trim(unit) // ")"
      return
    end if
    shown = number(value)
    word = keyword
    if (len_trim(keyword) > 15) then
      write (handle, '(a)') trim(keyword) // " " // shown(:24) // " " // trim(unit) // "  " // trim(label)
    else
      write (handle, '(a)') word // " " // shown(:24) // " " // trim(unit) // "  " // trim(label)
    end if
  end subroutine echo_line

  subroutine write_echo(y)
    real(dp), intent(in) :: y(n_s)
    integer :: handle, ios, i, now(8)
    real(dp) :: value
    open (newunit=handle, file=beside(echo), status="replace", action="write", iostat=ios)
    if (ios /= 0) then
      call problem(echo, 0, "this file cannot be written")
      return
    end if
    call date_and_time(values=now)
    write (handle, '(a)') "PARSFILE", "* Echo file of " // model_title, "* Input file: " // trim(input)
    write (handle, '(a, i4, 2("-", i2.2), i3.2, 2(":", i2.2))') "* Run was made ", now(1:3), now(5:7)
    write (handle, '(a)') "TITLE " // trim(title), "", "* run"
    call echo_line(handle, "STOPT", t_end, "s", "end of the run")
    call echo_line(handle, "STEP", step, "s", "time step")
    call echo_line(handle, "IPRINT", real(every, dp), "-", "steps from one output to the next")
    write (handle, '(a)') "METHOD          " // trim(methods(method)), "", "* parameters"
    do i = 1, size(parameters)
      call echo_line(handle, parameters(i)%keyword, parameters(i)%value, parameters(i)%unit, parameters(i)%label)
    end do
@IF INPUTS@
    call echo_inputs(handle)
@END@
    write (handle, '(a)') "", "* initial values"
    do i = 1, n_s
      value = states(i)%value
      if (.not. states(i)%given .or. abs(value*states(i)%factor - y(i)) > 0) value = y(i)/states(i)%factor
      call echo_line(handle, states(i)%keyword, value, states(i)%unit, states(i)%label)
    end do
@ECHO_ROUTINES@    write (handle, '(a)', iostat=ios) "END"
    if (ios == 0) close (handle, iostat=ios)
    if (ios /= 0) call problem(echo, 0, "this file cannot be written")
    call put(echo)
  end subroutine write_echo

  ! ---- the output file

  ! A field of some width; characters of UTF-8 stay whole.
  function field(text, width) result(shown)
    character(len=*), intent(in) :: text
    integer, intent(in) :: width
    character(len=:), allocatable :: shown
    integer :: i, n
    n = 0
    shown = ""
    do i = 1, len_trim(text)
      if (iand(iachar(text(i:i)), 192) /= 128) n = n + 1
      if (n > width) return
      shown = shown // text(i:i)
    end do
    shown = shown // repeat(" ", width - n)
  end function field

  function quoted(text) result(shown)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: shown
    integer :: i
    shown = '"'
    do i = 1, len_trim(text)
      shown = shown // text(i:i)
      if (text(i:i) == '"') shown = shown // '"'
    end do
    shown = shown // '"'
  end function quoted

  subroutine write_header(handle, samples)
    integer, intent(in) :: handle, samples
    character(len=:), allocatable :: short, long, unit, generic, body
    character(len=32) :: shown
    integer :: i, n
    n = n_channels
    short = "SHORTNAM"
    long = "LONGNAME"
    unit = "UNITSNAM"
    generic = "GENNAME "
    body = "RIGIBODY"
    if (layout /= erd_classic) then
      n = n + 1
      short = short // field("t", 8)
      long = long // field("Time", 32)
      unit = unit // field("s", 8)
      generic = generic // field("Time", 32)
      body = body // field("", 32)
    end if
    do i = 1, n_channels
      short = short // field(channels(i)%short, 8)
      long = long // field(channels(i)%label, 32)
      unit = unit // field(channels(i)%unit, 8)
      generic = generic // field(channels(i)%generic, 32)
      body = body // field(channels(i)%body, 32)
    end do
    shown = number(step*every)
    write (handle, '(a)') "ERDFILEV2.00"
    select case (layout)
    case (erd_classic)
      write (handle, '(5(i6, ","), g13.6)') n, samples, samples, 4*n, 1, step*every
    case (erd_binary)
      write (handle, '(5(i6, ","), a)') n, samples, samples, 8*n, 2, trim(shown)
    case default
      write (handle, '(5(i6, ","), a)') n, samples, -1, 1, 5, trim(shown)
    end select
    write (handle, '(a)') "TITLE " // trim(title), short, long, unit, generic, body, "XLABEL Time", "XUNITS sec"
    if (layout /= erd_classic) then
      write (handle, '(a)') 'CHANNEL "t" "s" "Time" "Time" ""'
      do i = 1, n_channels
        write (handle, '(a, 5(" ", a))') "CHANNEL", quoted(channels(i)%name), quoted(channels(i)%unit), &
          quoted(channels(i)%label), quoted(channels(i)%generic), quoted(channels(i)%body)
      end do
    end if
    write (handle, '(a)') "HISTORY Input parameter file was " // trim(input), &
      "HISTORY Data generated with " // model_title, &
      "END"
  end subroutine write_header

  ! Samples in a file of their own: 64 bit one after another, or 32 bit as records of Fortran.
  subroutine write_binary(rows, samples)
    real(dp), intent(in) :: rows(:, :)
    integer, intent(in) :: samples
    integer :: handle, ios, i
    character(len=:), allocatable :: path
    if (layout == erd_classic) then
      path = trim(output) // ".BIN"
      open (newunit=handle, file=beside(path), status="replace", action="write", form="unformatted", iostat=ios)
      do i = 1, samples
        if (ios == 0) write (handle, iostat=ios) real(rows(2:, i), real32)
      end do
    else
      path = trim(output) // ".bin"
      open (newunit=handle, file=beside(path), status="replace", action="write", form="unformatted", access="stream", &
        iostat=ios)
      if (ios == 0) write (handle, iostat=ios) rows(:, 1:samples)
    end if
    if (ios == 0) close (handle, iostat=ios)
    if (ios /= 0) call problem(path, 0, "this file cannot be written")
    call put(path)
  end subroutine write_binary

  ! Writes all channels in their units; the file was opened before the run.
  subroutine write_output(handle, rows, filled)
    integer, intent(in) :: handle, filled
    real(dp), intent(inout) :: rows(:, :)
    integer :: i, samples, ios
    samples = filled
    ios = 0
    do i = 1, n_channels
      rows(1 + i, 1:samples) = rows(1 + i, 1:samples)/channels(i)%factor
    end do
    if (layout == erd_classic .and. samples > 1) then ! a last sample off the raster is left out
      if (abs(rows(1, samples) - (samples - 1)*step*every) > tuned_raster*step*every) samples = samples - 1
    end if
    if (layout == csv) then
      write (handle, '(*(a))', iostat=ios) "t", (",", quoted(channels(i)%name), i = 1, n_channels)
      write (handle, '(*(a))', iostat=ios) "s", (",", quoted(channels(i)%unit), i = 1, n_channels)
      do i = 1, samples
        if (ios == 0) write (handle, '(es24.16e3, *(:, ",", es24.16e3))', iostat=ios) rows(:, i)
      end do
    else
      call write_header(handle, samples)
      if (layout == erd) then
        do i = 1, samples
          if (ios == 0) write (handle, '(*(es24.16e3, :, " "))', iostat=ios) rows(:, i)
        end do
      else
        call write_binary(rows, samples)
      end if
    end if
    if (ios == 0) close (handle, iostat=ios)
    if (ios /= 0) call problem(output, 0, "this file cannot be written")
    call put(output)
  end subroutine write_output

  ! ---- the run

  subroutine check_values()
    integer :: i
    do i = 1, size(parameters)
      if (.not. parameters(i)%given) call problem(input, 0, "no value is given for " // trim(parameters(i)%keyword))
    end do
    if (step > t_end*(1 + tuned_over)) call problem(input, 0, "STEP is larger than STOPT")
    if (t_end/step > 2.0e9_dp) call problem(input, 0, "there are more than 2e9 steps")
  end subroutine check_values

  ! Parameters in equation units, and the constants that follow from them.
  subroutine find_parameters(y)
    real(dp), intent(in) :: y(n_s)
@IF ENTERED@
    real(dp) :: entered(n_p - n_given)
@END@
    p(:n_given) = parameters(:n_given)%value*parameters(:n_given)%factor
@IF ENTERED@
    call entry_values(y, entered)
    p(n_given + 1:) = entered
@ELSE@
    if (size(y) < 0) return ! not used
@END@
    call constants()
  end subroutine find_parameters

@LOOPS@@HOLD@  ! Rates of the state at a time; alive: external routines may change what they remember.
@IF LOOPS@
  recursive subroutine rates(alive, at, y, rate)
@ELSE@
  subroutine rates(alive, at, y, rate)
@END@
    logical, intent(in) :: alive
    real(dp), intent(in) :: at, y(n_s)
    real(dp), intent(out) :: rate(n_s)
    t = at
@IF INPUTS@
    call set_inputs()
@END@
    live = merge(1, 0, alive)
@IF LOOPS@
    if (wary) then
      call wary_rates(y, rate)
    else
      call derivatives(y, rate)
    end if
@ELSE@
    call derivatives(y, rate)
@END@
    live = 0
  end subroutine rates

  ! One step of length h from y with rates k; the rates at its end are left to the caller.
  subroutine advance(h, start, middle, finish_time, y, k, next)
    real(dp), intent(in) :: h, start, middle, finish_time, y(n_s), k(n_s)
    real(dp), intent(out) :: next(n_s)
@METHOD_CASES@  end subroutine advance

  ! The next part of a step that is cut where inputs jump or have a kink, and where it ends before a whole step is over.
  subroutine next_part(start, finish_time, to, seen, later)
    real(dp), intent(in) :: start, finish_time
    real(dp), intent(out) :: to, seen, later
    real(dp) :: first, last, gap
    integer :: b
    gap = tuned_gap*step
    to = finish_time
    seen = finish_time
    later = finish_time
    do b = 1, size(breaks)
      if (breaks(b) <= start + gap) cycle
      if (breaks(b) > finish_time + gap) exit
      first = breaks(b)
      last = maxval([first, pack(breaks, breaks > first .and. breaks <= first + gap)])
      to = merge(first, finish_time, first < finish_time - gap)
      seen = nearest(min(first, to), -1.0_dp)
      later = max(last, to)
      exit
    end do
  end subroutine next_part

  ! One part of a step, or all of it: inputs are read at `seen` by stages at its end, and at `later` for what follows;
  ! the two differ
  ! where an input jumps. External routines remember at the end of the last part only.
  subroutine take_part(h, start, middle, to, seen, later, last, y, k, ended)
    real(dp), intent(in) :: h, start, middle, to, seen, later
    logical, intent(in) :: last
    real(dp), intent(inout) :: y(n_s), k(n_s)
    character(len=*), intent(inout) :: ended
    real(dp) :: next(n_s)
    integer :: j
@IF UPDATE@
    real(dp) :: held(n_w - n_i)
@END@
@IF LOOPS@
    call move(h, start, middle, seen, y, k, next, 0, ended)
@ELSE@
    call advance(h, start, middle, seen, y, k, next)
@END@
    if (.not. all(ieee_is_finite(next)) .and. ended == "") then
      ended = "a state is no longer a finite number; try a smaller step:"
      do j = 1, n_s
        if (.not. ieee_is_finite(next(j))) ended = trim(ended) // " " // states(j)%keyword
      end do
    end if
    if (ended /= "") return
    y = next
    k_old = k
    behind = @TWO_STEP@
@IF UPDATE@
    held = w(n_i + 1:)
    if (last) call hold(.false., later, y, 2)
    behind = behind .and. .not. any(held < w(n_i + 1:) .or. held > w(n_i + 1:)) ! else a jump
@END@
    call rates(last, later, y, k)
@IF LOOPS@
    if (ratio > singular) call remember(to, k)
    call watch()
    behind = behind .and. .not. near
@ELSE@
    if (to < start) return ! not used
@END@
  end subroutine take_part

@RECORD@  ! Is a step to be taken in parts: as inputs jump or have a kink within, or as it is no whole one?
  logical function is_parted(i, start, finish_time)
    integer, intent(in) :: i
    real(dp), intent(in) :: start, finish_time
    is_parted = abs(finish_time - i*step) > tuned_gap*step .or. abs(start - (i - 1)*step) > tuned_gap*step .or. &
                any(breaks > start + tuned_gap*step .and. breaks <= finish_time + tuned_gap*step)
  end function is_parted

  ! Step i, from a time on.
  subroutine take_step(i, total, begins, y, k, ended)
    integer, intent(in) :: i, total
    real(dp), intent(in) :: begins
    real(dp), intent(inout) :: y(n_s), k(n_s)
    character(len=*), intent(inout) :: ended
    real(dp) :: start, finish_time, to, seen, later
    start = begins
    finish_time = i*step
    if (i == total) finish_time = t_end
    if (is_parted(i, start, finish_time)) then
      do while (start < finish_time .and. ended == "")
        call next_part(start, finish_time, to, seen, later)
        behind = .false.
        call take_part(to - start, start, 0.5_dp*(start + to), to, seen, later, to >= finish_time, y, k, ended)
        start = to
      end do
      behind = .false.
    else
      call take_part(step, start, (i - 0.5_dp)*step, finish_time, finish_time, finish_time, .true., y, k, ended)
    end if
  end subroutine take_step

@EVENTS@  subroutine simulate()
    real(dp), allocatable :: rows(:, :)
    real(dp) :: y(n_s), k(n_s), before, after
    integer :: i, total, filled, reached, handle, ios
    character(len=@ENDED_LENGTH@) :: ended
    do i = 1, n_s
      y(i) = states(i)%value*states(i)%factor
    end do
    call find_parameters(y)
    if (.not. all(ieee_is_finite(c))) &
      call problem(input, 0, "the constants of the model cannot be computed: may a mass, inertia or length be zero?")
@IF INPUTS@
    call check_inputs()
@END@
    call stop_if_problems()
@IF LOOPS@
    call assemble(y)
    call find_metric(0.0_dp, y)
@END@
    call write_echo(y)
    total = nint(t_end/step)
    if (abs(total*step - t_end) >= tuned_at_end*t_end) total = ceiling(t_end/step)
    allocate (rows(1 + n_channels, total/every + 2), stat=ios)
    if (ios /= 0) call problem(input, 0, "there is no room for the results: a larger IPRINT keeps fewer steps")
    call stop_if_problems()
    open (newunit=handle, file=beside(output), status="replace", action="write", iostat=ios, recl=2000000)
    if (ios /= 0) call problem(output, 0, "this file cannot be written")
    call stop_if_problems()
    call cpu_time(before)
    ended = ""
    reached = 0
@IF INPUTS@
    call find_breaks(total)
@ELSE@
    breaks = [real(dp) ::]
@END@
@IF HOLD@
    call hold(.true., 0.0_dp, y, 2)
@END@
@IF LOOPS@
    call begin(0.0_dp, y)
@END@
    call rates(.true., 0.0_dp, y, k)
@IF LOOPS@
    call remember(0.0_dp, k)
@END@
@IF EVENTS@
    call watch_run(total, y, k, reached, ended)
    call move_alloc(kept_rows, rows)
    filled = n_kept
@ELSE@
    filled = 1
    call record(0.0_dp, y, rows(:, filled))
    do i = 1, total
      reached = i
      call take_step(i, total, (i - 1)*step, y, k, ended)
      if (ended /= "") exit
      if (mod(i, every) == 0 .or. i == total) then
        filled = filled + 1
        call record(merge(t_end, i*step, i == total), y, rows(:, filled))
      end if
    end do
@END@
    call cpu_time(after)
    write (output_unit, '(a)', advance="no") trim(title) // ": " // whole(reached) // " steps of " // &
      trim(number(step)) // &
      " s, " // trim(methods(method)) // ", "
    if (ended == "") then
      write (output_unit, '(a)') "finished at t = " // trim(number(t_end)) // " s"
    else if (index(ended, "stopped") == 1) then
      write (output_unit, '(a)') trim(ended)
    else
      write (output_unit, '(a)') "stopped at t = " // trim(number(reached*step)) // " s: " // trim(ended)
    end if
    write (output_unit, '(a, es9.2, a)') "it took", after - before, " s"
    call write_output(handle, rows, filled)
    call stop_if_problems()
    write (output_unit, '(a)') "wrote " // trim(output) // " and " // trim(echo)
    if (ended /= "") call finish(ended_early)
  end subroutine simulate

  ! ---- the command line

  subroutine help()
    write (output_unit, '(a)') "usage: " // stem // " [options] [PARSFILE]", "", &
      "  PARSFILE         parameters, initial values and inputs (default: " // stem // ".par)", &
      "  --output FILE    all channels over time (default: " // stem // &
      ".erd; a name that ends in .csv gives a table)", &
      "  --echo FILE      everything as it was used, again a PARSFILE (default: " // stem // ".echo)", &
      "  --t-end S        end of the run in s, instead of STOPT of the file", &
      "  --step S         time step in s, instead of STEP", &
      "  --method NAME    @METHOD_LIST@, instead of METHOD", &
      "  --every N        steps from one output to the next, instead of IPRINT", &
      "  --binary         ERD file with 64-bit samples beside it", &
      "  --classic        ERD file and echo in the layout of 1990: 32-bit samples beside it, 6 digits", &
      "  --help           this text", "", &
      "Exit codes: 0 fine, 1 an error in files or values, 2 wrong usage, 4 the run ended early."
  end subroutine help

  subroutine usage(what, word)
    character(len=*), intent(in) :: what, word
    write (error_unit, '(a)') stem // ": " // what // " '" // trim(word) // "'; try --help"
    call finish(usage_error)
  end subroutine usage

  subroutine read_command_line()
    character(len=8), parameter :: options(4) = ["--t-end ", "--step  ", "--method", "--every "]
    character(len=6), parameter :: keywords(4) = ["stopt ", "step  ", "method", "iprint"]
    character(len=512) :: word, value, later(4)
    integer :: i, j
    logical :: known
    input = ""
    echo = stem // ".echo"
    output = stem // ".erd"
    layout = erd
    later = ""
    i = 0
    do while (i < command_argument_count())
      i = i + 1
      call get_command_argument(i, word)
      select case (word)
      case ("--help", "-h")
        call help()
        call finish(fine)
      case ("--binary")
        layout = erd_binary
      case ("--classic")
        layout = erd_classic
      case default
        if (word(1:2) /= "--") then
          if (input /= "") call usage("a second PARSFILE", word)
          input = word
          cycle
        end if
        if (i == command_argument_count()) call usage("unknown option, or no value after", word)
        i = i + 1
        call get_command_argument(i, value)
        known = .true.
        if (word == "--output") then
          output = value
        else if (word == "--echo") then
          echo = value
        else
          known = .false.
          do j = 1, 4
            if (word == options(j)) then
              later(j) = value
              known = .true.
            end if
          end do
        end if
        if (.not. known) call usage("unknown option", word)
      end select
    end do
    if (input == "") input = stem // ".par"
    j = len_trim(output)
    if (j > 4) then
      if (plain(output(j - 3:j)) == ".csv") then
        if (layout /= erd) call usage("--binary and --classic are layouts of ERD files, not of", output)
        layout = csv
      end if
    end if
    call read_parsfile(trim(input), "", 0, 0)
    do j = 1, 4
      if (later(j) /= "") call read_setting(trim(keywords(j)), later(j), options(j), 0, known)
    end do
  end subroutine read_command_line

end program simulation_program
