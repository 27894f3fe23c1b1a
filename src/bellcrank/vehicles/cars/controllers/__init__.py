"""Controllers of a car as states and formulas of its model: stability control, traction control, torque vectoring,
cruise control. Each has a section in the car file, a parameter that switches it, and channels under its name.
"""
