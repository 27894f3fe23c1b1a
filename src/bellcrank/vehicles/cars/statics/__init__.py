"""How a car stands: static equilibrium of body, wheels and trailers, what bushes yield, and set-ups
solved from it."""
