"""The errors that may cross a room; the command line prints each as one line."""


class PortauditError(Exception):
    """Base of all errors that are meant for a person; the text says what, where and what is accepted."""


class UsageError(PortauditError):
    """Arguments, config or target are wrong; exit code 2."""


class RulesError(PortauditError):
    """A file under rules/ does not have its documented shape; exit code 2."""


class VersionSkew(PortauditError):
    """A worker holds another rule set than the process that asked it."""


class OutputError(PortauditError):
    """A report could not be written; exit code 3."""
