"""The one way to run code that may crash, hang or eat memory: in a process that may die without harm.

May import: the tables and helpers of the lower floors. Must never know: what it runs. Device workers import this
package with the standard library alone, so nothing is imported here.
"""
