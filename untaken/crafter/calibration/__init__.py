"""Calibration of estimates from ledgers against the results in clones (§2c).

Reading a calibration needs no simulator.
"""

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
