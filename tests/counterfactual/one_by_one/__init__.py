"""A reference evaluation, one decision after another, object by object, to compare the columns with."""
