"""Outputs of tasks on their way from clusters: to the directory of whoever calls `gridget`, or by themselves."""
