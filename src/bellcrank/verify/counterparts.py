"""Which joints and loads of a description the independent evaluation knows.

A new kind has its counterpart in `verify`, written apart from the derivation; a check of
a model without it raises an error here.
"""

from __future__ import annotations

from collections.abc import Iterator

from bellcrank.core.errors import ModelError
from bellcrank.model.records import Description
from bellcrank.verify.reference_joints import REFERENCE_JOINTS

LOAD_KINDS = ("force", "moment", "strut", "cable", "gravity")  # of MechanicsEvaluator


def require_counterparts(description: Description, model: str) -> None:
    """Complains of joints and loads that `verify` has no counterpart of."""
    if problems := [*_unknown_kinds(description)]:
        raise ModelError(problems, model)


def _unknown_kinds(description: Description) -> Iterator[str]:
    for body in description.bodies:
        if body.joint is not None and (kind := body.joint.carrier_kind) not in REFERENCE_JOINTS:
            yield (
                f"body '{body.name}': its joint, of kind '{kind}', has no independent counterpart, "
                f"which check() needs: write it in verify/reference_joints.py, REFERENCE_JOINTS"
            )
    for load in description.forces:
        if load.kind not in LOAD_KINDS:
            yield (
                f"{load.message_label}: loads of kind '{load.kind}' have no independent "
                f"counterpart, which check() needs: write it in verify/mechanics.py and list the "
                f"kind in verify/counterparts.py, LOAD_KINDS"
            )
