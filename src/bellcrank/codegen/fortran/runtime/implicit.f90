@EQUATIONS@
@BY_INPUT@
@BIAS@
  subroutine @NAME@(@GIVEN@, values)
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    real(dp), intent(in) :: @GIVEN@
    real(dp), intent(out) :: values(@VALUES@)
    integer, parameter :: n = @SIZE@
    real(dp) :: s(n), g(@ROWS@), a(@ROWS@, @ROWS@), y(@UNKNOWNS@, @INPUTS@)
    real(dp) :: first(@ROWS@, @INPUTS@), right(@ROWS@, @PAIRS@), place, t, v, h, largest@MORE@
    integer :: i, j, k, turn, pivot(@ROWS@)
    logical :: regular
    @START@
    values = ieee_value(1.0_dp, ieee_quiet_nan)
    place = (z - (@LOW@))*@PER@
    if (.not. (place >= 0 .and. place <= @LAST@)) return
    i = min(int(place), @LAST@ - 1) + 1
    t = place - (i - 1)
    v = 1 - t
    h = 1/@PER@
    s = v**3*((1 + 3*t + 6*t*t)*start(:n, i) + h*t*(1 + 3*t)*start(n + 1:2*n, i) &
      + 0.5_dp*(h*t)**2*start(2*n + 1:3*n, i)) &
      + t**3*((1 + 3*v + 6*v*v)*start(:n, i + 1) - h*v*(1 + 3*v)*start(n + 1:2*n, i + 1) &
      + 0.5_dp*(h*v)**2*start(2*n + 1:3*n, i + 1))
    @SECOND@
    @PRESCRIBED@
    @NORMAL@
    do turn = 1, @TURNS@
      call @NAME@_rows(s, @GIVEN@, g, a)
      call implicit_factor(@ROWS@, a, pivot, regular)
      if (.not. regular) return
      call implicit_solve(@ROWS@, a, pivot, g)
      largest = maxval(abs(g))
      @UPDATES@
      if (.not. largest < 1) return
      if (largest < @SETTLED@) exit
    end do
    if (turn > @TURNS@) return
    values = 0
    values(1:@SIZE@) = s
    k = @SIZE@
    y = 0
    call @NAME@_by_input(s, @GIVEN@, first)
    do j = 1, @INPUTS@
      g = first(:, j)
      call implicit_solve(@ROWS@, a, pivot, g)
      @FIRST@
      values(k + 1:k + @UNKNOWNS@) = y(:, j)
      k = k + @UNKNOWNS@
    end do
    call @NAME@_bias(s, @GIVEN@, y, right)
    do j = 1, @PAIRS@
      g = right(:, j)
      call implicit_solve(@ROWS@, a, pivot, g)
      @SCATTER@
      k = k + @UNKNOWNS@
    end do
  end subroutine @NAME@
