"""Mutation tests: does a test fall when a line of the code that makes figures is changed?

`make mutants` changes one operator, comparison, constant or condition at a time (the operators of
cosmic-ray) and runs the tests that cover its module. A mutant that no test notices is printed as a
diff. The sample is drawn with a seed, so that two runs of the same code try the same mutants.
"""
