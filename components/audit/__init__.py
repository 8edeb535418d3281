"""Audit: is the plan itself right?"""
