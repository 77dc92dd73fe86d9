"""How sure a value is: what resampling, a fair model, another instrument and missing samples would have shown."""
