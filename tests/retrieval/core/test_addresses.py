"""Addresses and keys: a password is never shown, this machine is asked directly, and what cannot be used is one sentence."""

from __future__ import annotations

import pytest

from counterpoint.retrieval.core import addresses
from counterpoint.retrieval.core.addresses import clean_key, find_proxy, hide_login, is_loopback, split_login
from counterpoint.retrieval.core.errors import BadConfig


@pytest.mark.parametrize(
    ("address", "shown", "login"),
    [
        ("http://ann:open%40sesame@host:80/v1", "http://host:80/v1", ("ann", "open@sesame")),
        ("https://ann@host", "https://host", ("ann", "")),
        ("https://:pass@[::1]:9/v1?x=1", "https://[::1]:9/v1?x=1", ("", "pass")),
        ("http://host/@ann", "http://host/@ann", None),
        ("http://a:b@c@host", "http://host", ("a", "b@c")),
    ],
)
def test_a_login_is_parted_from_its_address(address: str, shown: str, login: object) -> None:
    assert split_login(address) == (shown, login)


def test_a_login_is_hidden_however_badly_the_address_is_written() -> None:
    assert (
        hide_login("see http://ann:pass/word@host:80x/v1 and 'ftp://bob:secret@b' now")
        == "see http://host:80x/v1 and 'ftp://b' now"
    )
    assert hide_login("https:/ann:secret@host/index") == "https:/host/index", "as a path, which has no two slashes"
    assert hide_login("write to ann@example.org about https://host/x") == "write to ann@example.org about https://host/x"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "http://[::1]:1", "http://localhost:8", "http://a:b@127.9.9.9/"])
def test_this_machine_is_asked_without_any_proxy(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "socks9://proxy:1")
    assert is_loopback(address)
    assert find_proxy(address) is None


def test_the_proxy_of_the_environment_is_used_and_a_kind_that_cannot_be_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert find_proxy("https://host/v1") is None
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:secret@proxy:1080")
    monkeypatch.setattr(addresses, "find_spec", lambda name: None)
    with pytest.raises(BadConfig, match=r"ALL_PROXY names a SOCKS proxy, which needs .* socksio: .* host in NO_PROXY") as caught:
        find_proxy("https://host/v1")
    assert "secret" not in str(caught.value)
    monkeypatch.setattr(addresses, "find_spec", lambda name: name)
    assert find_proxy("https://host/v1") == "socks5://ann:secret@proxy:1080"
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    assert find_proxy("https://host/v1") == "http://proxy:3128"
    monkeypatch.setenv("NO_PROXY", "host")
    assert find_proxy("https://ann:secret@host/v1") is None
    monkeypatch.setenv("ALL_PROXY", "socks://proxy:1")
    with pytest.raises(BadConfig, match="ALL_PROXY names a proxy of the kind socks, which cannot be used"):
        find_proxy("http://other")


@pytest.mark.parametrize("key", ["sk-abc ", "\tsk-abc\r\n", "\u00a0sk-abc\u2009"])
def test_blanks_around_a_key_are_no_part_of_it(key: str) -> None:
    assert clean_key(key, "in K") == "sk-abc"


@pytest.mark.parametrize(
    ("key", "said"), [("sk-a\nbc", "a line break"), ("sk-a bc", "a blank"), ("sk-ä", "a letter beyond ASCII")]
)
def test_a_key_that_no_header_carries_is_told_and_not_shown(key: str, said: str) -> None:
    with pytest.raises(BadConfig, match=f"The key in K has {said}|The key in K has a blank, {said}") as caught:
        clean_key(key, "in K")
    assert key not in str(caught.value)
