"""From a model to its equations: kinematics, dynamics, derivation, interface."""
