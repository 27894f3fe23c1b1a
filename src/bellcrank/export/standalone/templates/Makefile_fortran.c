# @TITLE@
CC ?= cc
CFLAGS ?= -O2
STRICT = -std=c99 -Wall -Wextra
FC = gfortran
FFLAGS ?= -O2

@STEM@: program.o routines.o
	$(FC) -o $@ program.o routines.o -lm

program.o: program.c model.c
	$(CC) $(STRICT) $(CFLAGS) -c -o $@ program.c

# external routines in Fortran
routines.o: routines.f90
	$(FC) -std=f2008 -Wall -Wextra $(FFLAGS) -c -o $@ routines.f90

run: @STEM@
	./@STEM@ @STEM@.par

clean:
	rm -f @STEM@ *.o *.mod @STEM@.erd @STEM@.erd.bin @STEM@.erd.BIN @STEM@.echo

.PHONY: run clean
