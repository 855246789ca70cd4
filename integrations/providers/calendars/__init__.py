"""What calendars of people have in common, whatever their servers speak: ids of events, steps of a
look, and writes that stand in rows. No provider."""
