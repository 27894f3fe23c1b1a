if (.not. (@WITHIN@)) then
  block
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    v = ieee_value(1.0_dp, ieee_quiet_nan)
  end block
  return
end if
