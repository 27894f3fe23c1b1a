"""From a car as data to a System: body, frame, axles, trailers, air, channels (`car_model` puts it
together)."""
