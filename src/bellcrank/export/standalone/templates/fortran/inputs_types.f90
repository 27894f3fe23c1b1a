
@TUNING@  type :: signal
    character(len=@KEYWORD_LENGTH@) :: keyword
    character(len=@UNIT_LENGTH@) :: unit
    character(len=@LABEL_LENGTH@) :: label
    real(dp) :: factor = 1
    character(len=@KIND_LENGTH@) :: kind = "" ! blank while no input is given
    real(dp) :: a(@MOST_NUMBERS@) = 0
    character(len=512) :: file = ""
    logical :: straight = .false. ! straight lines, known between their points only
    real(dp), allocatable :: x(:), pieces(:)
  end type signal

  character(len=@KIND_LENGTH@), parameter :: kinds(@N_KINDS@) = [@KINDS@]
  integer, parameter :: kind_numbers(@N_KINDS@) = [@KIND_NUMBERS@]
  integer, parameter :: kind_smooth(@N_KINDS@) = [@KIND_SMOOTH@] ! how often it can be differentiated
  ! the numbers that must be positive
  character(len=@KIND_LENGTH@), parameter :: positive_kinds(@N_POSITIVE@) = [@POSITIVE_KINDS@]
  integer, parameter :: positive_numbers(@N_POSITIVE@) = [@POSITIVE_NUMBERS@]
  character(len=@POSITIVE_LENGTH@), parameter :: positive_names(@N_POSITIVE@) = [@POSITIVE_NAMES@]
  ! the inputs of the model: a signal, or its rate
  integer, parameter :: input_signal(n_i) = [ &
    @INPUT_SIGNAL@]
  integer, parameter :: input_rate(n_i) = [ &
    @INPUT_RATE@]
  type(signal) :: signals(@N_SIGNALS@)
