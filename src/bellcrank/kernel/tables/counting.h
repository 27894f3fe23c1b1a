enum { FINAL, MIN, MAX, MEAN, RMS, PERCENTILE, CROSSING, WK, WD, N_KINDS };
enum { NO_CONSTANTS = 8, LEFT = 9, STOPPED = 10, POLES = 4 };
enum { CELLS = 1024 };          /* of equal width into which the numbers of a run are counted */
