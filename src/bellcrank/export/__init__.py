"""What leaves as files that run by themselves: stand-alone programs and their parameter files."""
