"""Terrain: heights of the ground along a road or over a grid, friction, and the point nearest to a
wheel."""

from bellcrank.vehicles.terrain.terrain import (
    Road,
    Surface,
    Terrain,
    banked,
    cosine,
    course,
    enveloped,
    flat,
    grid,
    hill,
    iso8608,
    iso8608_tracks,
    profile,
    ramp,
)

__all__ = [
    "Road",
    "Surface",
    "Terrain",
    "banked",
    "cosine",
    "course",
    "enveloped",
    "flat",
    "grid",
    "hill",
    "iso8608",
    "iso8608_tracks",
    "profile",
    "ramp",
]


def __dir__() -> list[str]:
    return sorted(__all__)
