"""Calls that are interrupted before a given line of some files."""

import sys


def interrupt_at(act, files, error, at):
    """Call `act`, with `error` raised before line number `at` that it runs of these files.

    Return whether the call reached that line. Errors raised from `error` are interruptions too.
    """
    passed = 0

    def tracer(frame, event, argument):
        nonlocal passed
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            passed += 1
            if passed == at:
                sys.settrace(None)
                raise error
        return tracer

    kept = sys.gettrace()
    sys.settrace(tracer)
    try:
        act()
    except BaseException as raised:
        if raised is not error and raised.__cause__ is not error:
            raise
    finally:
        sys.settrace(kept)
    return passed >= at


def count_lines(act, files):
    """Call `act`, and return how many lines it runs of these files."""
    passed = 0

    def tracer(frame, event, argument):
        nonlocal passed
        if frame.f_code.co_filename not in files:
            return None
        passed += event == "line"
        return tracer

    kept = sys.gettrace()
    sys.settrace(tracer)
    try:
        act()
    finally:
        sys.settrace(kept)
    return passed
