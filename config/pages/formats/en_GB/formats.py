"""How pages write times: always with their zone."""

DATETIME_FORMAT = "j M Y, H:i:s e"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
TIME_FORMAT = "H:i:s"
