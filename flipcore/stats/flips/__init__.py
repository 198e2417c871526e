"""Does the answer flip, and is it the model or the readout?"""
