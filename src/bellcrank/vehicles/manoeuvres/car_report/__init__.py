"""The report of cars: one page with key figures, drawings, characteristics and every manoeuvre,
cars compared."""
