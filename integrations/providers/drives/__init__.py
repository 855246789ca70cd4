"""What files of people have in common, whatever their servers speak: writes that stand in rows. No
provider."""
