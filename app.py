"""The app's frame: page config, one workspace a server, the rules in force, and the way between pages."""

from __future__ import annotations

import streamlit as st

from components.shared import navigation, starting


def main() -> None:
    """Draw the frame, then the page that was asked for."""
    _name_tab("Untaken")
    starting.wait()
    # After the progress bar: it is slow to load.
    from components.shared import frame, reviewer, scope_controls, state, tables  # noqa: PLC0415
    from components.shared.listeners import watch_theme  # noqa: PLC0415

    with starting.drawing(), state.frame():
        if reviewer.must_sign_in():
            st.title("Untaken")
            reviewer.ask_reviewer()
            st.stop()
        frame.take_back()
        page = st.navigation(navigation.offered(), expanded=True)
        _name_tab(f"{page.title} · Untaken")
        state.remember(page.url_path)
        frame.draw()
        scope_controls.draw()
        watch_theme()
        with tables.collected():
            if page.url_path:  # the first page loads them after its first numbers
                starting.load_tables()
            page.run()
    starting.go_on()


def _name_tab(title: str) -> None:
    st.set_page_config(page_title=title, page_icon="🔀", layout="wide")


main()
