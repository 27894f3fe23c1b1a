! The quarter car in a Fortran program of your own: travel of the suspension for four stiffnesses, computed in parallel.
!
!     bellcrank export fortran examples/quarter_car.py --out car
!     gfortran -fopenmp -O2 -o own car/model.f90 examples/quarter_car_in_fortran.f90 && ./own
!
! The module needs no C here. Its functions change nothing but their results, so threads may call them at once.
! model.f90 lists what stands at which place of q, u, p, w and out.
program quarter_car_in_fortran
  use model
  implicit none
  integer, parameter :: steps = 2000
  real(dp), parameter :: h = 0.0005_dp, stiffness(4) = [12000, 16800, 24000, 36000]
  real(dp) :: q(n_q), u(n_u), p(n_p), c(n_c), w(n_w), qd(n_q), ud(n_u), out(n_out), largest(4), final(4)
  type(externals) :: x
  integer :: i, k

  !$omp parallel do private(q, u, p, c, w, qd, ud, out, x, i)
  do k = 1, 4
    p = [1000.0_dp, 2845.0_dp, 3424.0_dp, 9.80665_dp, stiffness(k), 190000.0_dp, 290.0_dp, 59.0_dp]
    call constants(p, c)
    q = 0
    u = 0
    w = 0.05_dp ! the wheel stands before a step of 5 cm
    largest(k) = 0
    do i = 1, steps ! semi-implicit Euler: speeds first, then coordinates with the new speeds
      call derivatives((i - 1)*h, q, u, p, c, w, qd, ud, x)
      u = u + h*ud
      call derivatives((i - 1)*h, q, u, p, c, w, qd, ud, x)
      q = q + h*qd
      call outputs(i*h, q, u, p, c, w, out, x)
      largest(k) = max(largest(k), abs(out(2)))
    end do
    final(k) = q(2)
  end do

  do k = 1, 4
    print '(f8.0, 2es24.16)', stiffness(k), largest(k), final(k)
  end do
end program quarter_car_in_fortran
