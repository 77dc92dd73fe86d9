"""Groups and labour figures, shared by IRIS' four datasets and its scorer."""
