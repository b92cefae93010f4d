"""Pack: descriptors become one shard an architecture, and a shard is opened only when every byte of it is as packed."""
