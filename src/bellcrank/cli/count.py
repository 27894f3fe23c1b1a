"""`bellcrank count`: operations of one evaluation."""

from __future__ import annotations

import json
from argparse import Namespace

from bellcrank.cli.load_model import derive_model_equations
from bellcrank.cli.options import add_shared_options
from bellcrank.cli.parser import CommandParser
from bellcrank.cli.report_text import aligned_text_table, model_heading, model_sizes


def add_options(parser: CommandParser) -> None:
    add_shared_options(parser, "model", "json")


def run_command(args: Namespace) -> None:
    equations = derive_model_equations(args)
    count = equations.operation_count()
    if args.json:
        sizes = model_sizes(equations)
        print(
            json.dumps(
                {**sizes, "operations": count, "passes": dict(equations.program.stages)}, indent=2
            )
        )
        return
    kinds = ("add", "multiply", "divide", "function", "total")
    rows = [["operations", *(str(count[k]) for k in kinds)]]
    if count["per_step"]["total"]:
        rows.append(["of them per step", *(str(count["per_step"][k]) for k in kinds)])
    for name, inside in count.get("routines", {}).items():
        rows.append([f"apart, in a call of {name}", *(str(inside[k]) for k in kinds)])
    classic = count["classic"]
    print(model_heading(equations))
    print(aligned_text_table(rows, ["", *kinds], "<" + ">" * len(kinds)))
    print(
        f"\nclassic rule: {classic['add']} add, {classic['muldiv']} multiply or divide, "
        f"{classic['calls']} calls"
    )
    if equations.program.stages:
        print("passes: " + ", ".join(f"{name} {total}" for name, total in equations.program.stages))
    print(f"derived by {equations.how} in {sum(equations.seconds.values()):.3g} s")
