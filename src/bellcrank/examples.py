"""Models, decks, tyres and studies that come with Bellcrank, by name.

Calls and commands that read files take these names, too: ``bc.load("four_bar")``, ``bellcrank run
quarter_car``. A file of your own with that name comes first.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.shipped_files import example_files, example_folder, example_path

__all__ = ["copy", "files", "names", "path"]


def names() -> list[str]:
    """List the models among the examples.

    Returns
    -------
    list of str
        Names that `bc.load` and commands take.

    Examples
    --------
    >>> import bellcrank as bc
    >>> "four_bar" in bc.examples.names()
    True
    """
    folder = example_folder()
    modules = [p for p in example_files() if p.suffix == ".py" and len(p.parts) == 1]
    return [p.stem for p in modules if "\ndef model(" in (folder / p).read_text(encoding="utf-8")]


def files() -> list[str]:
    """List all files of the examples: models, programs, decks, tyres, studies.

    Returns
    -------
    list of str
        Paths within the folder of the examples.

    Examples
    --------
    >>> import bellcrank as bc
    >>> "tyres/book_205_60R15.tir" in bc.examples.files()
    True
    """
    return [p.as_posix() for p in example_files()]


def path(name: str) -> Path:
    """Find the file of an example.

    Parameters
    ----------
    name : str
        A name (`"four_bar"`) or a path within the folder of the examples
        (`"tyres/book_205_60R15.tir"`).

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ModelError
        If there is no such example.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.examples.path("four_bar").name
    'four_bar.py'
    """
    example_file = example_path(name)
    if example_file is None:
        choices = [*names(), *files()]
        raise ModelError(
            f"no example is called '{name}'.{did_you_mean(str(name), choices)} Models: "
            f"{', '.join(names())}."
        )
    return example_file


def copy(folder: str | Path, *given: str) -> list[Path]:
    """Copy examples into a folder, to change them there.

    Parameters
    ----------
    folder : str or Path
        The folder, which is made if necessary.
    *given : str
        Names as of `path`. Default: all.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    ModelError
        If there is no such example, or if a file of that name is there already.

    Examples
    --------
    >>> import tempfile
    >>> import bellcrank as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [p.name for p in bc.examples.copy(folder, "four_bar")]
    ['four_bar.py']
    """
    home = example_folder()
    pairs = [(p, Path(folder) / p.relative_to(home)) for p in (path(x) for x in given or files())]
    for _, target in pairs:
        if target.exists():
            raise ModelError(f"examples: {target} exists already, and is left as it is")
    for source, target in pairs:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return [target for _, target in pairs]


def __dir__() -> list[str]:
    return sorted(__all__)
