"""Mutation testing: small random changes to the code, and whether a test fails on each."""
