"""Loop 3: what has moved since last time. Pure: cards in, Structs out, no I/O."""
