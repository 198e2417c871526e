"""What every question uses: estimates, intervals, resampling, multiplicity, power, agreement."""
