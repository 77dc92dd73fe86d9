"""The raw values of FACT-OR-FAIR."""
