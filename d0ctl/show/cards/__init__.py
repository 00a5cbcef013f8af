"""Cards and lines of the things that d0ctl knows: all about one of them."""
