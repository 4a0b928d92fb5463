"""python -m portaudit."""

from portaudit.cli.main import run

if __name__ == "__main__":
    run()
