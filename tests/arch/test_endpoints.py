"""What people may ask and change is tried by strangers, others, owners and operators, without exception."""

from cigri import endpoints
from tests.portal.test_changes import ASKED


def test_each_endpoint_has_its_row_in_the_test_of_who_may() -> None:
    assert set(ASKED) == {endpoint.name for endpoint in endpoints.list_endpoints()}, "tests/portal/test_changes.py"
