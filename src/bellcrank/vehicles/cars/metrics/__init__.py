"""Numbers of a car without a run: handling by hand formulas, kinematics, compliance and load cases
of axles, plausibility."""
