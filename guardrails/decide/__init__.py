"""Decides: may this be done, must a person be asked, or is it refused? Pure: everything it looks
at is an argument, `now` included."""
