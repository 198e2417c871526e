"""Claims: sentences that assert something, each with how often it may be false.

Pages, command line, reports and exports print these.
"""
