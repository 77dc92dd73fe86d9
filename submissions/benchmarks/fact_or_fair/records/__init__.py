"""What the values of FACT-OR-FAIR are made from."""
