"""Many runs evaluated by many processes: of this machine, or of a Dask cluster."""
