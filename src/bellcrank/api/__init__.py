"""What a user types: System, Equations, Simulation; every call is passed on to the stage that has
it."""
