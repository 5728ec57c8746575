"""Measurements: each command compares with a baseline that it runs beside what it measures. See README.md."""
