"""Motorcycles and bicycles in space: file, model, steady motions, modes, rider and manoeuvres."""
