"""Records, the declared study, contracts of plug-ins, errors, paths, random generators."""
