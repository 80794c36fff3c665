"""`python -m tools.doctor.names` writes the page of all names that the doctor can give."""

from pathlib import Path

from mha_helpers.doctor import vocabulary

PAGE = Path(__file__).parents[2] / "mha_helpers" / "doctor" / "NAMES.md"


def main():
    PAGE.write_text(vocabulary.page(), encoding="utf-8")
    print(f"{len(vocabulary.WORDS)} names")


if __name__ == "__main__":
    main()
