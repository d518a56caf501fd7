"""Where requests to other servers may go."""

import pytest

from muisti.service.outgoing.addresses import Allowed, Refused


@pytest.mark.parametrize(("url", "why"), [
    ("http://hooks.example.com/x", "https"), ("https://hooks.example.com:8443/x", "host"),
    ("https://hooks.example.com.evil.com/x", "host"), ("https://evil.com/?hooks.example.com", "host"),
    ("https://hooks.example.com@evil.com/x", "user name"), ("https://hooks.example.com#@evil.com", "fragment"),
    ("https://evil.com\\@hooks.example.com/", "user name"), ("file:///etc/passwd", "host"), ("https://[::1", "URL"),
    ("https://hooks.example.com:0x1bb/", "URL"), ("//hooks.example.com", "https"),
    ("https://127.0.0.1/", "private"), ("https://[::ffff:169.254.169.254]/", "private"),
    ("https://0x7f000001/", "private"), ("https://localhost/", "private"),
])  # fmt: skip
def test_a_url_leads_only_where_it_may(url: str, why: str):
    listed = ["hooks.example.com", "127.0.0.1", "[::ffff:169.254.169.254]", "0x7f000001", "localhost"]
    with pytest.raises(Refused, match=why):
        Allowed(listed).resolve(url)


def test_a_refusal_names_the_settings_of_whoever_asks():
    allowed = Allowed(["a.example"], setting_of_hosts="HOSTS", setting_of_private="PRIVATE")
    with pytest.raises(Refused, match="HOSTS"):
        allowed.check("https://b.example/")
    with pytest.raises(Refused, match="PRIVATE"):
        Allowed(["localhost"], setting_of_private="PRIVATE").resolve("https://localhost/")
    with pytest.raises(Refused, match="MUISTI_WEBHOOK_HOSTS"):
        Allowed([]).check("https://a.example/")


def test_private_networks_and_http_may_be_allowed():
    target = Allowed(["127.0.0.1:8080"], private=True).resolve("http://127.0.0.1:8080/x")
    assert (target.pinned, target.port) == ("http://127.0.0.1:8080/x", 8080)
