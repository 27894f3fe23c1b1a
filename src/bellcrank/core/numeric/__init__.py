"""What computes in Python, here and in written programs: methods, steps, signals, corrections of
closed loops.

The files import nothing but NumPy and each other, relative to this folder: a written program takes
the folder along as it stands.
"""
