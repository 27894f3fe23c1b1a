"""What a user types: System, Equations, Simulation, load_model; every call goes on to the stage that has it."""
