"""What IRIS' four datasets and its scorer share: groups and labour figures."""
