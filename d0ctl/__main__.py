"""`python -m d0ctl`."""

from d0ctl.cli import main

if __name__ == "__main__":
    main()
