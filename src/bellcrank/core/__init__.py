"""What every room uses: errors, names, units, signals, metrics, numerical methods, files."""
