/* ---- external routines and what they remember */

@EXTERNALS@