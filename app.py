"""What `streamlit run` is given: the dashboard, whose script `pages/main.py` names the pages."""

from pathlib import Path

from streamlit.starlette import App

from pages.common.fault import tell

app = App(Path(__file__).parent / "pages" / "main.py", on_script_error=tell)
