"""Rules as data: their schema, their packs, the names in them, their versions."""
