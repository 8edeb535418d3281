"""Calibration of estimates from ledgers against the results in clones (§2c).

Reading a calibration needs no simulator.
"""

from untaken.crafter.calibration.model import (
    Bin,
    Calibration,
    CalibrationPair,
    Estimator,
    Figure,
    Measure,
    Settings,
    calibration_document,
    read_calibration,
    write_calibration,
)

__all__ = [
    "Bin",
    "Calibration",
    "CalibrationPair",
    "Estimator",
    "Figure",
    "Measure",
    "Settings",
    "calibration_document",
    "read_calibration",
    "write_calibration",
]
