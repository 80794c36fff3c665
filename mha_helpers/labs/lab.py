"""A lab of the course: one whose picture is stored with the course's data."""

from live_pictures import frame
from mha_helpers.course_data import data_path


class Lab(frame.Lab):
    """As `live_pictures.frame.Lab`; its stored picture is `data/labs/<name>.png`."""

    def stored_picture(self):
        return data_path(f"labs/{self.name}.png").read_bytes()
