"""A whole kernel stack in one package that Winnow does not know: it comes in by entry points alone."""
