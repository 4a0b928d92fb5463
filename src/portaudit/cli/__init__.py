"""The command line: argv in, files and exit codes out."""
