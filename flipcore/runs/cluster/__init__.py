"""Studies on a cluster: the driver plans and is the only writer, workers elsewhere answer calls and
keep nothing."""
