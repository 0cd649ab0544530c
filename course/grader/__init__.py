# SPDX-License-Identifier: GPL-2.0-only
"""The grader of the coursework. The host half boots VMs; the guest half runs the submission.

labs, questions        the labs and their questions: both halves
page_cache             makes a file cold: guest
submission             checks and copies what a student hands in: host
machine, results       runs the VMs, prints the points: host
here                   asks the questions without VMs: guest
in_guest, sandbox      asks the questions, runs the submission with limits: guest
"""
