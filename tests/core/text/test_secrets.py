"""No test holds a credential in one piece: scanners of repositories would object to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.secrets import find_secret, secrets_in

RANDOM = "a8Kd02LmQ7xZp4Rt9VbN3cYw6HsJ1gFu5EoTiWq0"


@pytest.mark.parametrize(("name", "text"), [
    ("private-key", "-----BEGIN " + "PRIVATE KEY-----\nMIIE"),
    ("private-key", "-----BEGIN RSA " + "PRIVATE KEY-----"),
    ("private-key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----"),
    ("aws-access-key", "key AKIA" + "Z7QWERTY2UIOPASD in the log"),
    ("github-token", "gh" + "p_" + RANDOM[:36]),
    ("github-token", "github_" + "pat_11ABCDEFG0" + RANDOM),
    ("gitlab-token", "gl" + "pat-" + RANDOM[:20]),
    ("slack-token", "xo" + "xb-2048576-" + RANDOM[:24]),
    ("stripe-key", "sk_" + "live_" + RANDOM[:24]),
    ("google-api-key", "AI" + "za" + RANDOM[:35]),
    ("model-api-key", "s" + "k-ant-api03-" + RANDOM),
    ("model-api-key", "OPENAI: s" + "k-" + RANDOM),
    ("jwt", "ey" + "JhbGciOiJI.ey" + "JzdWIiOiIx." + RANDOM),
    ("url-password", "postgres://app:s3cr3t-x@db.internal/app"),
    ("muisti-key", "mk" + "_0123456789ab_" + RANDOM + "abc"),
    ("bearer-token", "Authorization: Bearer " + RANDOM),
    ("password-assignment", "password=hunter22"),
    ("password-assignment", "export DB_PASSWORD=correct-horse"),
    ("password-assignment", "the password: tr0ub4dor&3"),
    ("password-assignment", '{"api_key": "abcdefghij"}'),
    ("password-assignment", "client_secret := 'abcd efgh ijkl' or secret='abcdefghijkl'"),
    ("password-assignment", ':password => "s3same-open"'),
    ("password-assignment", "https://x.io/?token=f81d4fae7dec"),
    ("password-assignment", "aws_secret_access_key = " + RANDOM),
    ("password-assignment", "password=<yours> is wrong, password=opensesame is right"),
])  # fmt: skip
def test_a_secret_is_named(name: str, text: str):
    assert find_secret(text) == name
    assert find_secret(f"Some words before,\n{text}\nand after.") == name


@pytest.mark.parametrize("text", [
    "Never store the password in the repository; rotate the token every week.",
    "The secret: patience. Password: required. Token: authentication by header",
    "password=<your password>",
    "password=${DB_PASSWORD} token=$TOKEN secret=$(pass show db) api_key={{ key }} pwd=%PASSWORD%",
    "api_key=your-api-key-here, token=xxxxxxxxxxxx, secret=************, password=changeme123, token=...........",
    'token = get_token(user); password = os.environ["PASSWORD"]; secret = settings.secret; f(api_key=api_key)',
    "if token == expected_value and password != other_value: ...",
    "token::Kind2Expression, max_tokens=4096000000, tokens: 123456789",
    "password: Optional[str] = None",
    "AKIA" + "IOSFODNN7EXAMPLE is the one from the manual",
    "sk-learn-tutorial-part-2-with-long-name, task-0123456789abcdefghijklmno",
    "gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "-----BEGIN CERTIFICATE-----, -----BEGIN PUBLIC KEY-----",
    "a bearer of news, bearer authentication-is-described-there",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, id 0190b5a8-7e2c-7c3a-9d1e-4f5a6b7c8d9e",
    "password = 'mysecretpassword', {'token': 'some_token'}, wrong_password = \"wrong_password\", pwd=Password123",
    "postgres://postgres:postgres@localhost/app, redis://default:redis@cache, https://host:8080/a@b, a://b:<pw>@c",
    "eyJ starts a token in base64, as in eyJhbGciOiJI.",
    "class A:\n    def b(self):\n        self.token = nextchar\n        self.username, self.password = credentials",
    "import re\nPseudoToken = Whitespace + group(PseudoExtras)\nctx.load(F, password=getpass_unicode)",
    "token = lexer.token2", '"AWS::IAM::AccessKey": "72c2d9dd90025459"', "UNEXPECTED_TOKEN = /^Unexpected token '?(.)/",
    "user_pass = (self.username + ':' + self.password).encode()",
    'result = {"Stacks": stacks, "NextToken": next_token}; f({"token": self.credentials.token})',
    "ACCESS_KEY = 'aws_access_key_id'; SECRET_KEY = 'AWS_SECRET_ACCESS_KEY'",
    '_START = b"-----BEGIN OPENSSH PRIVATE ' + 'KEY-----"',
    "const token = nextToken;\nlet password = props.password;\nthis.secret = options.secret;",
    "func main() {\n\ttoken := readToken(r)\n\tcfg.Password = credentials\n",
    "",
])  # fmt: skip
def test_harmless_text_passes(text: str):
    assert find_secret(text) is None


@pytest.mark.parametrize("line", [
    "password = 'hunter22'",
    'self.token = "a8Kd02LmQ7xZ"',
    "connect(user, password='tr0ub4dor&3')",
    'headers = {"api_key": "a8Kd02LmQ7xZp4Rt9VbN"}',
    "# password=hunter22-old",
    "API_KEY = 'zqxwvutskjhg'",
    "key = b'-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA\n'",
])  # fmt: skip
def test_a_literal_in_code_is_still_a_secret(line: str):
    assert find_secret(f"import os\n\ndef run(self):\n    {line}\n    return 1\n") is not None


@given(st.text())
def test_any_text_can_be_judged(text: str):
    find_secret(text)
    assert find_secret(f"{text}\npassword=hunter22-{RANDOM}") is not None


@pytest.mark.parametrize(
    "text", ["eyJaaaaaaaa.", "token= ", "password", "bearer a", "-----BEGIN A ", "sk-", "xox", "api:"]
)
def test_hostile_text_is_judged_in_linear_time(text: str):
    """Anything quadratic would take minutes here."""
    assert find_secret("private key akia ghp_ glpat- k_live_ aiza " + text * 20_000) in (None, "jwt")


@pytest.mark.parametrize("secret", [
    "github_" + "pat_11ABCDEFG0" + RANDOM,
    "s" + "k-ant-api03-" + RANDOM,
    "ey" + "JhbGciOiJI.ey" + "JzdWIiOiIx." + RANDOM,
    "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEF+/==\n-----END PRIVATE KEY-----",
    "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF",
])  # fmt: skip
def test_a_secret_is_found_whole(secret: str):
    text = f"before {secret} after, https://example.com"
    assert [text[one.start : one.stop] for one in secrets_in(text)] == [secret]
