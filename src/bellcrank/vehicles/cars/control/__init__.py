"""Drivers and controllers as parts of a System: path and speed following, ESC, traction control,
cruise control, torque vectoring."""
