"""From bytes to records: sources, envelopes, the record grammar, blocks and the clock."""
