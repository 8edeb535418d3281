"""Pages are looked at as in the tests of the app."""

from sessions import installed_components, no_part_of_a_page_failed

__all__ = ["installed_components", "no_part_of_a_page_failed"]
