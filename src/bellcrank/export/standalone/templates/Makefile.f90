# @TITLE@
FC = gfortran
FFLAGS ?= -O2
STRICT = -std=f2008 -Wall -Wextra

@STEM@: program.f90 model.f90
	$(FC) $(STRICT) $(FFLAGS) -o $@ model.f90 program.f90

run: @STEM@
	./@STEM@ @STEM@.par

clean:
	rm -f @STEM@ model.mod @STEM@.erd @STEM@.erd.bin @STEM@.erd.BIN @STEM@.echo

.PHONY: run clean
