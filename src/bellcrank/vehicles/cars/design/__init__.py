"""A car as checked, frozen data: axles, springs, powertrain, frame, trailers, loads, and the whole
car (`car_data`)."""
