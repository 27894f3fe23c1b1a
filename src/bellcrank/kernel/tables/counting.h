enum { FINAL, MIN, MAX, PEAK, TRAVEL, MEAN, RMS, STD, PERCENTILE, CROSSING, WK, WD, SD, LOAD_VARIATION, AIRBORNE, N_KINDS };
enum { NO_CONSTANTS = 8, LEFT = 9, STOPPED = 10, POLES = 4 };
enum { CELLS = 1024 };          /* of equal width into which the numbers of a run are counted */
