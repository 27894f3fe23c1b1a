"""What a car file may say: keys with units, defaults and usual values, as records and as tables."""
