"""The page's style stands in the document's head once, before Streamlit's own; every other answer is as it was."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.common.head_start import FirstStyle
from pages.common.screen import MAX_STEPS, STEP_PX

DOCUMENT = "<html><head><title>x</title></head><body>" + "</head> of a text" * 60 + "</body></html>"


def client() -> TestClient:
    routes = [
        Route("/", lambda request: HTMLResponse(DOCUMENT, headers={"etag": '"a"'})),
        Route("/json", lambda request: JSONResponse({"html": DOCUMENT})),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(FirstStyle), Middleware(GZipMiddleware)]))


def test_a_document_has_the_style_once_in_its_head_and_a_length_that_is_true():
    answer = client().get("/", headers={"accept": "text/html", "if-none-match": '"a"'})
    head, _, body = answer.text.partition("</style>")
    assert head.startswith("<html><head><title>x</title><style>") and "<style>" not in body
    assert body.startswith("\n</head><body>") and int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers
    assert f'st-key-room-{MAX_STEPS}-"] {{ min-height: {MAX_STEPS * STEP_PX}px; }}' in head


def test_what_is_no_document_goes_through_as_it_is():
    assert client().get("/json", headers={"accept": "text/html"}).json() == {"html": DOCUMENT}
    assert client().get("/", headers={"accept": "*/*"}).text == DOCUMENT
