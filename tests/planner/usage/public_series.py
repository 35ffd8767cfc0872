"""Monthly GPU-hours of public clusters over two years, for judging forecasts.

Sums by month of the daily GPU-hours that the UChicago Data Science Institute publishes of its
Slurm cluster (2023-05-04 to 2025-09-30, read 2026); the first month is scaled to its 31 days.
"""

ALL_PARTITIONS = [
    *(21279, 20880, 21576, 21576, 20880, 21576, 21026, 28517, 37091, 51139),
    *(33942, 37151, 45474, 24386, 37396, 49340, 56962, 56145, 48124, 41483),
    *(57524, 51357, 66281, 55065, 53668, 40723, 59282, 43654, 46235),
]
PARTITION_GENERAL = [
    *(21279, 20880, 21576, 21576, 20880, 21576, 21026, 28474, 34942, 46518),
    *(33893, 35935, 43911, 23059, 35871, 45155, 47836, 44634, 38607, 35877),
    *(47031, 42519, 50725, 43072, 39379, 29369, 49220, 33118, 40529),
]
SERIES = {"all partitions": ALL_PARTITIONS, "partition general": PARTITION_GENERAL}
