from __future__ import annotations

import pytest

from hitl_cli.masking import mask, mask_data

TOKEN = "sk-ant-" + "a1B2" * 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"export K={TOKEN}", "export K=sk-a…[masked]"),
        ("ghp_" + "x" * 36, "ghp_…[masked]"),
        ("AKIA" + "ABCD1234" * 2, "AKIA…[masked]"),
        ("password = hunter22", "password = hunt…[masked]"),
        ('{"api_key": "0123456789"}', '{"api_key": "0123…[masked]"}'),
        ("Authorization: Bearer abcdefghij", "Authorization: Bearer abcd…[masked]"),
        ("postgres://me:s3cret@db/x", "postgres://me:s3cr…[masked]@db/x"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest",
            "-----BEGIN RSA PRIVATE KEY-----…[masked]\nrest",
        ),
    ],
)
def test_secrets_are_masked_and_what_stands_around_them_stays(text, expected):
    assert mask(text) == expected
    assert mask(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the password is asked for",
        "secret = $SECRET",
        "def token(): ...",
        "git log ghp_",
        "https://host:8080/a@b",
        "api_key=",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert mask(text) == text


def test_data_is_masked_by_the_names_of_its_keys_and_stays_data():
    data = {"password": "hunter22", "n": 3, "list": [TOKEN, None], "text": "-----BEGIN PRIVATE KEY-----\nMII"}
    assert mask_data(data) == {
        "password": "hunt…[masked]",
        "n": 3,
        "list": ["sk-a…[masked]", None],
        "text": "-----BEGIN PRIVATE KEY-----…[masked]",
    }
