# What goes wrong, as exceptions that show the place in the scenario.
"""Exceptions of podsim."""


class Error(Exception):
    """Why there is no answer.

    ``diagnostics`` has one dict for each thing to mend: file, line, column (from 1; 0 = the whole file or a setting), message,
    source_line, hint, and text, which is all of it as the command line prints it.
    """

    def __init__(self, message, diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)

    def _place(self, key):
        return self.diagnostics[0][key] if self.diagnostics else None

    @property
    def file(self):
        """Of the first diagnostic, or None."""
        return self._place("file")

    @property
    def line(self):
        """Of the first diagnostic, or None."""
        return self._place("line")

    @property
    def column(self):
        """Of the first diagnostic, or None."""
        return self._place("column")


class InputError(Error, ValueError):
    """What was asked must be changed."""


class InfeasibleError(Error):
    """The question is a good one, and nothing answers it."""


class CancelledError(Error):
    """The function that is told how far a computation is returned False."""


class InternalError(Error, RuntimeError):
    """podsim failed: a full disk, a fault of its own."""


def wrong_argument(call, name, expected, value):
    """An InputError whose place is an argument of a call."""
    text = f"{call}: {name}: expected {expected}, not {_shown(value)}"
    return InputError(text, [{
        "file": call, "line": 0, "column": 0, "message": f"{name}: expected {expected}", "source_line": _shown(value), "hint": "",
        "text": text
    }])


def utf8(text, call, name):
    """The text, where it can be written as UTF-8."""
    try:
        text.encode()
    except (UnicodeEncodeError, AttributeError):
        raise wrong_argument(call, name, "text that is UTF-8", text) from None
    return text


def _shown(value):
    try:
        shown = repr(value)
    except Exception:  # somebody else's class
        shown = ""
    return f"{type(value).__name__} {shown[:60]}".strip()
