"""A report -> text in one of the formats. No verdict is made here, no file is read but our templates."""
