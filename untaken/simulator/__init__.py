"""Planning in a simulator (§7): worlds that can be cloned faithfully, so that alternatives can be tried.

The one room that steps an environment. What is found here is never mixed with what the ledgers of runs say.
"""
