"""Every interval, test and agreement coefficient of the program, once (§5 of docs/concepts.md).

- `rates`: Wilson's interval of a rate.
- `means`: Student's t, the interval of a mean, and Jeffreys' of a rate.
- `sparse`: the mean of a quantity that is 0 in most runs; a product of two estimates.
- `bootstrap`: resampled tasks, and intervals from them.
- `ranks`: the interval of a rank.
- `paired`: differences of two agents over the same tasks: intervals, exact McNemar, sign flips, MDE.
- `multiple`: Holm's and Benjamini and Hochberg's adjustment.
- `exact`: Fisher's test, the sign test, the rank-sum test, and the probability of superiority.
- `correlation`: Kendall's τ-b and Spearman's ρ.
- `krippendorff`, `kappa`: how far raters agree beyond chance.
- `corrected`, `post_stratified`: rates from a few people's labels and a judge's verdicts on everything.
- `label_draw`: whether labelled items can be a random draw.
- `betting`: tests and ends of intervals of a mean that hold at every look.
- `stratified`: two options compared inside strata: risk difference, exact test, score interval.
- `relabelling`: how often labels that say nothing separate a row of rates as far.
- `unseen`: the share of occurrences whose kind nobody has seen yet, and how many more to look at.
- `two_way`: an option's slope where each agent ran each task once.
- `contrast`: the difference of two mean scores of which one part is a rate.

Nothing here knows runs, graphs or agents. SciPy computes what SciPy has; own forms are vectorised, or count
exactly where SciPy approximates. NumPy and SciPy are slow to load: who starts without them calls
``stats.holm(…)``, which loads them when it is first called; `rates` and `corrected` do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

# fmt: off
if TYPE_CHECKING:
    from untaken.stats.betting import Decided as Decided, decide as decide
    from untaken.stats.contrast import (
        HistorySample as HistorySample, band_between as band_between, band_of as band_of,
    )
    from untaken.stats.corrected import Corrected as Corrected, Target as Target
    from untaken.stats.correlation import (
        kendall_p as kendall_p, kendall_tau_b as kendall_tau_b, spearman as spearman,
        tau_interval as tau_interval,
    )
    from untaken.stats.exact import (
        at_least_p as at_least_p, fisher_p as fisher_p, more_often_p as more_often_p,
        poisson_binomial_tail as poisson_binomial_tail, rank_sum_p as rank_sum_p, sign_p as sign_p,
        superiority as superiority, superiority_interval as superiority_interval,
    )
    from untaken.stats.in_time import ChoiceSeries as ChoiceSeries, TimeAdjustment as TimeAdjustment
    from untaken.stats.kappa import (
        Pair as Pair, agreement_figures as agreement_figures, agreement_share as agreement_share,
        cohen_kappa as cohen_kappa, gwet_ac1 as gwet_ac1,
    )
    from untaken.stats.krippendorff import (
        Unit as Unit, alpha_interval as alpha_interval, nominal_alpha as nominal_alpha,
        ordinal_alpha as ordinal_alpha,
    )
    from untaken.stats.label_draw import draw_test as draw_test, weighted_draw_test as weighted_draw_test
    from untaken.stats.means import (
        around as around, beta_interval as beta_interval, mean as mean, mean_interval as mean_interval,
        mean_of_groups as mean_of_groups, reach_of_sum as reach_of_sum,
    )
    from untaken.stats.multiple import benjamini_hochberg as benjamini_hochberg, holm as holm
    from untaken.stats.paired import (
        adjusted_wald as adjusted_wald, discordant_tasks as discordant_tasks,
        interval_of_alike as interval_of_alike, mcnemar_p as mcnemar_p,
        resampled_interval as resampled_interval, sign_flip_p as sign_flip_p, sign_flips as sign_flips,
        wald_interval as wald_interval,
    )
    from untaken.stats.post_stratified import (
        Labels as Labels, corrected_difference as corrected_difference, corrected_rate as corrected_rate,
    )
    from untaken.stats.ranks import (
        PairTests as PairTests, rank_interval as rank_interval, task_flips as task_flips,
    )
    from untaken.stats.rates import Z_95 as Z_95, wilson as wilson
    from untaken.stats.relabelling import relabelled as relabelled
    from untaken.stats.rounding import Floats as Floats, quantise as quantise, quantised as quantised
    from untaken.stats.shares import (
        guaranteed_interval as guaranteed_interval, interval_of_share as interval_of_share,
        share_interval as share_interval,
    )
    from untaken.stats.sparse import TaskSample as TaskSample, product as product
    from untaken.stats.stratified import (
        Stratum as Stratum, exact_power as exact_power, exact_test as exact_test,
        mean_differences as mean_differences, more_often_inside_p as more_often_inside_p,
        risk_difference as risk_difference, score_interval as score_interval, strata_of as strata_of,
    )
    from untaken.stats.two_way import (
        Block as Block, Slope as Slope, slope_between_agents as slope_between_agents,
    )
    from untaken.stats.unseen import AIM as AIM, Unseen as Unseen, unseen_share as unseen_share
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
