# @TITLE@
FC = gfortran
FFLAGS ?= -O2
STRICT = -std=f2008 -Wall -Wextra
CC ?= cc
CFLAGS ?= -O2

@STEM@: program.f90 model.f90 routines.o
	$(FC) $(STRICT) $(FFLAGS) -o $@ model.f90 program.f90 routines.o -lm

# external routines in C
routines.o: routines.c
	$(CC) -std=c99 -Wall -Wextra $(CFLAGS) -c -o $@ routines.c

run: @STEM@
	./@STEM@ @STEM@.par

clean:
	rm -f @STEM@ *.o model.mod @STEM@.erd @STEM@.erd.bin @STEM@.erd.BIN @STEM@.echo

.PHONY: run clean
