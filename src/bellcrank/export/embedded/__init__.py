"""Models for controllers, test rigs and Simulink: C with a fixed number of operations per step."""
