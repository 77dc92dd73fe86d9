"""She or he: whether a model gives occupations to women and men by their clichés."""
