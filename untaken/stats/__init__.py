"""Every interval, test and agreement coefficient of the program, once (§5 of docs/concepts.md).

- `rates`: Wilson's and Jeffreys' interval of a rate.
- `means`: Student's t, and the interval of a mean.
- `sparse`: the mean of a quantity that is 0 in most runs; a product of two estimates.
- `bootstrap`: resampled tasks, and intervals from them.
- `ranks`: the interval of a rank.
- `paired`: differences of two agents over the same tasks: intervals, exact McNemar, sign flips, MDE.
- `multiple`: Holm's and Benjamini and Hochberg's adjustment.
- `exact`: Fisher's test, the sign test, the rank-sum test, and the probability of superiority.
- `correlation`: Kendall's τ-b and Spearman's ρ.
- `krippendorff`, `kappa`: how far raters agree beyond chance.
- `powered`, `prediction_powered`: rates from a few people's labels and a judge's verdicts on everything.
- `betting`: tests and ends of intervals of a mean that hold at every look.
- `stratified`: two options compared inside strata: risk difference, exact test, score interval.
- `unseen`: the share of occurrences whose kind nobody has seen yet, and how many more to look at.
- `two_way`: an option's slope where each agent ran each task once.
- `contrast`: the difference of two mean scores of which one part is a rate.

Nothing here knows runs, graphs or agents. SciPy computes what SciPy has; it is slow to load, so it is
imported where it is first needed. Own forms are vectorised, or count exactly where SciPy approximates.
"""
