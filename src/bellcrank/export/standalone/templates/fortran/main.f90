! @TITLE@: a plain simulation program in Fortran alone. Written by Bellcrank.
!
!     @STEM@_plain [PARSFILE [OUTPUT]]
!
! reads STOPT, STEP, IPRINT, METHOD (rk2 or rk4), parameters, inputs and initial values from a parameter file (default:
! @STEM@.par) and writes every channel over time as a table (default: @STEM@.csv). The equations of motion are in
! model.f90. Files are in the units named there; `factor` leads from them to the units of the equations. program.c has
! all methods, other formats, inputs from files and an echo.
program plain
  use, intrinsic :: iso_fortran_env, only: error_unit
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  use model
  implicit none

  integer, parameter :: n_given = @N_GIVEN@, n_s = n_q + n_u, n_signals = @N_SIGNALS@, n_channels = @N_CHANNELS@
  character(len=*), parameter :: names(n_channels) = [character(len=@NAME_LENGTH@) :: @NAMES@]
  character(len=*), parameter :: units(n_channels) = [character(len=@UNIT_LENGTH@) :: @UNITS@]
  integer, parameter :: columns(n_channels) = [integer :: @COLUMNS@]
  real(dp), parameter :: factors(n_channels) = [real(dp) :: @FACTORS@]
@IF SIGNALS@
  integer, parameter :: input_signal(n_i) = [integer :: @INPUT_SIGNAL@], input_rate(n_i) = [integer :: @INPUT_RATE@]
@END@
  real(dp), parameter :: gap = @GAP@ ! share of a step: nearer to its end, a break of an input lies at it

  type :: quantity
    character(len=@KEYWORD_LENGTH@) :: keyword
    real(dp) :: factor ! one of its unit in files is so many units of the equations
    character(len=@KIND_LENGTH@) :: kind ! of an input over time; others are constant; "" while nothing is given
    real(dp) :: a(@MOST_NUMBERS@) ! numbers of the kind; of a constant, its value
  end type quantity

  type(quantity) :: list(n_given + n_s + n_signals) ! parameters, coordinates and speeds, inputs
  real(dp) :: t_end = @T_END@, step = @STEP@
  integer :: every = @EVERY@
  character(len=8) :: method = "@METHOD@"
  character(len=512) :: input, output
  real(dp) :: p(n_p), c(n_c)
  real(dp), allocatable :: breaks(:) ! times at which inputs jump or have a kink: steps are split there
  type(externals) :: x

@DESCRIBE@
  input = "@STEM@.par"
  output = "@STEM@.csv"
  if (command_argument_count() > 0) call get_command_argument(1, input)
  if (command_argument_count() > 1) call get_command_argument(2, output)
  call read_parsfile()
  call simulate()

contains

  subroutine describe(i, keyword, factor, kind, a)
    integer, intent(in) :: i
    character(len=*), intent(in) :: keyword, kind
    real(dp), intent(in) :: factor, a(:)
    list(i) = quantity(keyword, factor, kind, 0.0_dp)
    list(i)%a(:size(a)) = a
  end subroutine describe

  subroutine fail(text)
    character(len=*), intent(in) :: text
    write (error_unit, '(a)') "@STEM@_plain: " // text
    stop 1
  end subroutine fail

  ! ---- the parameter file: KEYWORD value, and words for the reader

  subroutine read_parsfile()
    character(len=2000) :: line
    character(len=200) :: keyword
    integer :: handle, ios, i, n
    open (newunit=handle, file=trim(input), status="old", action="read", iostat=ios)
    if (ios /= 0) call fail("cannot read " // trim(input))
    do
      read (handle, '(a)', iostat=ios) line
      if (ios /= 0) exit
      line = adjustl(line)
      if (line == "" .or. line(1:1) == "*") cycle
      n = index(line, " ")
      keyword = small(line(:n))
      line = adjustl(line(n:))
      select case (keyword)
      case ("end")
        exit
      case ("parsfile")
        if (line /= "") call fail("PARSFILE within a file is read by program.c alone")
      case ("stopt")
        t_end = number(keyword, line)
      case ("step")
        step = number(keyword, line)
      case ("iprint")
        every = nint(number(keyword, line))
      case ("method")
        method = small(line(:8))
        method = method(:index(method // " ", " ") - 1)
        if (method /= "rk2" .and. method /= "rk4") call fail("METHOD is rk2 or rk4; program.c has the others")
      case default
        if (keyword == "title" .or. keyword(:4) == "rtol" .or. keyword(:4) == "atol") cycle
        do i = size(list), 1, -1
          if (small(list(i)%keyword) == keyword) exit
        end do
        if (i == 0) call fail(trim(input) // ": no keyword is called " // trim(keyword))
        call read_quantity(list(i), line, i > n_given + n_s)
      end select
    end do
    close (handle)
    do i = 1, size(list)
      if (list(i)%kind == "") call fail(trim(input) // ": no value is given for " // trim(list(i)%keyword))
    end do
    if (.not. (t_end > 0 .and. step > 0 .and. every > 0)) call fail("STOPT, STEP and IPRINT must be positive")
  end subroutine read_parsfile

  ! A number, or of an input its kind and numbers.
  subroutine read_quantity(q, line, over_time)
    type(quantity), intent(inout) :: q
    character(len=*), intent(in) :: line
    logical, intent(in) :: over_time
    if (.not. over_time .or. scan(line(1:1), "0123456789+-.") == 1) then
      q%kind = "constant"
      q%a(1) = number(q%keyword, line)
      return
    end if
@IF SIGNALS@
    q%kind = small(line(:index(line, " ") - 1))
    select case (q%kind)
@READ_CASES@    case default
      call fail(trim(q%keyword) // " is a number or @KIND_LIST@; program.c reads files")
    end select
@END@
  end subroutine read_quantity

@IF SIGNALS@
  subroutine read_numbers(q, line, n)
    type(quantity), intent(inout) :: q
    character(len=*), intent(in) :: line
    integer, intent(in) :: n
    integer :: ios
    read (line(index(line, " "):), *, iostat=ios) q%a(:n)
    if (ios /= 0) call fail(trim(q%keyword) // " has too few numbers: " // trim(line))
  end subroutine read_numbers

@END@
  ! The number at the beginning of a line.
  function number(keyword, line) result(value)
    character(len=*), intent(in) :: keyword, line
    real(dp) :: value
    character(len=:), allocatable :: word
    integer :: ios
    word = line(:index(line, " ") - 1)
    read (word, *, iostat=ios) value
    if (ios /= 0 .or. word == "" .or. verify(word, "0123456789+-.eEdD") > 0) &
      call fail(trim(input) // ": " // trim(keyword) // " needs a number, found " // word)
  end function number

  pure function small(text)
    character(len=*), intent(in) :: text
    character(len=len(text)) :: small
    integer :: i
    small = text
    do i = 1, len(text)
      if (text(i:i) >= "A" .and. text(i:i) <= "Z") small(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function small

  ! ---- inputs over time

  function inputs(t) result(w)
    real(dp), intent(in) :: t
    real(dp) :: w(n_w)
@IF SIGNALS@
    integer :: i
    do i = 1, n_i
      associate (s => list(n_given + n_s + input_signal(i)))
        w(i) = s%factor*signal_value(s%kind, s%a, input_rate(i), t)
      end associate
    end do
@ELSE@
    w = t ! there are none
@END@
  end function inputs

@IF SIGNALS@
  ! A signal at a time, or its derivative of an order.
  function signal_value(kind, a, slope, at) result(value)
    character(len=*), intent(in) :: kind
    real(dp), intent(in) :: a(:), at
    integer, intent(in) :: slope
    real(dp), parameter :: two_pi = 6.283185307179586_dp
    real(dp) :: value, @SIGNAL_LETS@
    value = 0
    select case (kind)
@SIGNAL_CASES@    end select
  end function signal_value

@END@
  subroutine find_breaks()
    breaks = [real(dp) ::]
@IF SIGNALS@
    block
      integer :: i
      do i = n_given + n_s + 1, size(list)
        associate (a => list(i)%a)
          select case (list(i)%kind)
@BREAK_CASES@          end select
        end associate
      end do
    end block
@END@
  end subroutine find_breaks

  ! ---- the run

  function rates(t, y) result(k)
    real(dp), intent(in) :: t, y(n_s)
    real(dp) :: k(n_s)
    call derivatives(t, y(:n_q), y(n_q + 1:), p, c, inputs(t), k(:n_q), k(n_q + 1:), x)
  end function rates

  ! A step of length h: inputs are read at `from` for its beginning and at `seen` for its end.
  subroutine advance(h, from, middle, seen, y)
    real(dp), intent(in) :: h, from, middle, seen
    real(dp), intent(inout) :: y(n_s)
    real(dp) :: k1(n_s), k2(n_s), k3(n_s), k4(n_s)
    k1 = rates(from, y)
    k2 = rates(middle, y + h/2*k1)
    if (method == "rk2") then ! the midpoint rule
      y = y + h*k2
    else
      k3 = rates(middle, y + h/2*k2)
      k4 = rates(seen, y + h*k3)
      y = y + h/6*(k1 + 2*k2 + 2*k3 + k4)
    end if
    @UNIT_SIZES@
  end subroutine advance

  ! The end of the next part of a step, which is split where inputs jump or have a kink; there they are read shortly
  ! before by what ends, and after all jumps by what follows.
  subroutine next_part(start, finish, to, seen, later)
    real(dp), intent(in) :: start, finish
    real(dp), intent(out) :: to, seen, later
    real(dp) :: first
    to = finish
    seen = finish
    later = finish
    first = minval(breaks, mask=breaks > start + gap*step)
    if (first > finish + gap*step) return
    if (first < finish - gap*step) to = first
    seen = nearest(min(first, to), -1.0_dp)
    later = max(to, maxval(breaks, mask=breaks <= first + gap*step))
  end subroutine next_part

  subroutine record(handle, t, read_at, y)
    integer, intent(in) :: handle
    real(dp), intent(in) :: t, read_at, y(n_s)
    real(dp) :: row(1 + n_s + n_out + n_w), w(n_w)
    w = inputs(read_at)
    call outputs(read_at, y(:n_q), y(n_q + 1:), p, c, w, row(2 + n_s:1 + n_s + n_out), x)
    row(1) = t
    row(2:1 + n_s) = y
    row(2 + n_s + n_out:) = w
    write (handle, '(*(es24.16e3, :, ","))') t, row(columns)/factors
  end subroutine record

  subroutine simulate()
    real(dp) :: y(n_s), start, from, finish, to, seen, later
    integer :: i, total, handle, ios
    p = [(list(i)%a(1)*list(i)%factor, i = 1, n_given)]
    y = [(list(i)%a(1)*list(i)%factor, i = n_given + 1, n_given + n_s)]
    call constants(p, c)
    if (.not. all(ieee_is_finite(c))) call fail("the constants of the model are not finite: is a mass zero?")
    call find_breaks()
    total = nint(t_end/step)
    if (abs(total*step - t_end) >= @AT_END@*t_end) total = ceiling(t_end/step)
    open (newunit=handle, file=trim(output), status="replace", action="write", iostat=ios)
    if (ios /= 0) call fail("cannot write " // trim(output))
    write (handle, '(*(a))') "t", (",", trim(names(i)), i = 1, n_channels)
    write (handle, '(*(a))') "s", (",", trim(units(i)), i = 1, n_channels)
    from = 0
    call record(handle, from, from, y)
    do i = 1, total
      start = (i - 1)*step
      finish = i*step
      if (i == total) finish = t_end
      do while (start < finish)
        call next_part(start, finish, to, seen, later)
        call advance(to - start, from, 0.5_dp*(start + to), seen, y)
        start = to
        from = later
      end do
      if (.not. all(ieee_is_finite(y))) call fail("a state is no longer a finite number; try a smaller step")
      if (mod(i, every) == 0 .or. i == total) call record(handle, finish, from, y)
    end do
    close (handle)
    print '(a)', "wrote " // trim(output)
  end subroutine simulate

end program plain
