
  type :: signal
    character(len=@KEYWORD_LENGTH@) :: keyword
    character(len=@UNIT_LENGTH@) :: unit
    character(len=@LABEL_LENGTH@) :: label
    real(dp) :: factor = 1
    character(len=8) :: kind = "" ! blank while no input is given
    real(dp) :: a(5) = 0
    character(len=512) :: file = ""
    logical :: straight = .false. ! straight lines, known between their points only
    real(dp), allocatable :: x(:), pieces(:)
  end type signal

  character(len=8), parameter :: kinds(5) = ["constant", "step    ", "ramp    ", "sine    ", "chirp   "]
  integer, parameter :: kind_numbers(5) = [1, 3, 3, 4, 5]
  ! the inputs of the model: a signal, or its rate
  integer, parameter :: input_signal(n_i) = [ &
    @INPUT_SIGNAL@]
  integer, parameter :: input_rate(n_i) = [ &
    @INPUT_RATE@]
  type(signal) :: signals(@N_SIGNALS@)
