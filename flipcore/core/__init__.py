"""The base of everything: records, the declared study, contracts of plug-ins, errors, paths, random
generators."""
