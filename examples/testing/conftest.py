"""Makes the recording a fixture of pytest: a test with the parameter `mock` gets the URL of a fresh one."""

import mock_server
import pytest


@pytest.fixture
def mock():
    yield from mock_server.serve()
