
@TUNING@  type :: signal
    character(len=@KEYWORD_LENGTH@) :: keyword
    character(len=@UNIT_LENGTH@) :: unit
    character(len=@LABEL_LENGTH@) :: label
    real(dp) :: factor = 1
    character(len=@KIND_LENGTH@) :: kind = "" ! blank while no input is given
    real(dp) :: a(6) = 0
    character(len=512) :: file = ""
    logical :: straight = .false. ! straight lines, known between their points only
    real(dp), allocatable :: x(:), pieces(:)
  end type signal

  character(len=@KIND_LENGTH@), parameter :: kinds(@N_KINDS@) = [@KINDS@]
  integer, parameter :: kind_numbers(@N_KINDS@) = [@KIND_NUMBERS@]
  integer, parameter :: kind_smooth(@N_KINDS@) = [@KIND_SMOOTH@] ! how often it can be differentiated
  integer, parameter :: kind_positive(@N_KINDS@) = [@KIND_POSITIVE@] ! the number that must be positive, or 0
  character(len=@NAME_LENGTH@), parameter :: positive_names(@N_KINDS@) = [@POSITIVE_NAMES@]
  ! the inputs of the model: a signal, or its rate
  integer, parameter :: input_signal(n_i) = [ &
    @INPUT_SIGNAL@]
  integer, parameter :: input_rate(n_i) = [ &
    @INPUT_RATE@]
  type(signal) :: signals(@N_SIGNALS@)
