"""Cars, trucks and trailers from hard points: files, set-up, model, driver and controllers."""
