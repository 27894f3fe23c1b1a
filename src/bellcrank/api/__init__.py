"""What a user types: System, Equations, Simulation, load_model; every call is passed on to the stage that has it."""
