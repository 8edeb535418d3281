"""Calibration of estimates from ledgers against the results in clones (§2c).

Reading a calibration needs no simulator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.crafter.calibration.calibration_result import (
    Bin as Bin,
    Calibration as Calibration,
    CalibrationPair as CalibrationPair,
    Estimator as Estimator,
    Figure as Figure,
    Measure as Measure,
    Settings as Settings,
    calibration_document as calibration_document,
    read_calibration as read_calibration,
    write_calibration as write_calibration,
)
from untaken.lazy_imports import imported_on_first_use

if TYPE_CHECKING:
    from untaken.crafter.calibration.comparing import calibrate as calibrate
    from untaken.crafter.calibration.playing import CalibrationPlan as CalibrationPlan

# They compute, and NumPy is slow to load.
__getattr__, __dir__ = imported_on_first_use(__name__)
