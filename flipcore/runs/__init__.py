"""From a declared study to stored readouts: plan, price, run, watch, import."""
