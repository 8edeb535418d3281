"""The evaluation of one decision after another, object by object: what the columns are held against."""
