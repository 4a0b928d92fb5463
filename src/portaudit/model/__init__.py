"""The frozen values that pass between rooms. No I/O, no parsing, no import of another room."""
