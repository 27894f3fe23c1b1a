# @TITLE@
CC ?= cc
CFLAGS ?= -O2
STRICT = -std=c99 -Wall -Wextra

@STEM@: program.c model.c
	$(CC) $(STRICT) $(CFLAGS) -o $@ program.c -lm

run: @STEM@
	./@STEM@ @STEM@.par

clean:
	rm -f @STEM@ @STEM@.erd @STEM@.erd.bin @STEM@.erd.BIN @STEM@.echo

.PHONY: run clean
