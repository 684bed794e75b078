"""Every way in which a server can go wrong is a class of its own, with an outcome and a sentence."""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adversary import (
    ACTS,
    ANSWERS,
    END,
    ROLE,
    STREAM,
    Adversary,
    adversary,
    certificate,
    chunk,
    proxy,
    token,
)
from requests_to_send import planned
from vramledger.errors import BadInput
from vramledger.record.document import Description, Origin
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.requests import RequestRecord
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound
from vramledger.trial.client.single import fetch_all, fetch_one
from vramledger.trial.wire.failures import FAILURES, named
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target

LIMITS = Limits(after_done_s=0.3)
IMPATIENT = Limits(silence_s=2.0)  # for what would last for ever
OUTCOMES = {
    "http_400": Outcome.REJECTED,
    "http_401": Outcome.REJECTED,
    "http_429": Outcome.REJECTED,
    "http_500": Outcome.FAILED,
    "http_503": Outcome.REJECTED,
    "redirect": Outcome.REJECTED,
    "closed_early": Outcome.FAILED,
    "reset": Outcome.FAILED,
    "no_http": Outcome.FAILED,
    "line_feeds_alone": Outcome.FAILED,
    "two_lengths": Outcome.FAILED,
    "bad_head": Outcome.FAILED,
    "endless_head": Outcome.FAILED,
    "bad_chunking": Outcome.FAILED,
    "line_too_long": Outcome.FAILED,
    "wrong_content_type": Outcome.FAILED,
    "encoded": Outcome.FAILED,
    "bad_json": Outcome.FAILED,
    "bad_chunk": Outcome.FAILED,
    "error_in_stream": Outcome.FAILED,
    "error_event": Outcome.FAILED,
    "too_long": Outcome.FAILED,
    "half_json": Outcome.INCOMPLETE,
    "closed_mid_stream": Outcome.INCOMPLETE,
    "reset_mid_stream": Outcome.INCOMPLETE,
    "no_done": Outcome.INCOMPLETE,
    "aborted": Outcome.INCOMPLETE,
    "too_short": Outcome.INCOMPLETE,
    "stalled": Outcome.TIMED_OUT,
    "slow_drip": Outcome.TIMED_OUT,
}
GOOD = {"good", "goes_on", "without_done", "until_close", "split_in_characters", "never_ends"}


@pytest.fixture(scope="module")
def server() -> Iterator[Adversary]:
    with adversary() as found:
        yield found


def asked(server: Adversary, path: str) -> RequestRecord:
    limits = IMPATIENT if OUTCOMES.get(path) is Outcome.TIMED_OUT else LIMITS
    return fetch_one(Target(server.url(), f"/v1/{path}"), planned(), limits=limits)


def test_every_act_of_the_adversary_is_expected() -> None:
    assert OUTCOMES.keys() | GOOD == ANSWERS.keys() | ACTS.keys()


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_wrong_has_its_class_and_outcome(server: Adversary, name: str) -> None:
    record = asked(server, name)
    assert record.error_class == name
    assert record.outcome is OUTCOMES[name]
    assert named(name).outcome is OUTCOMES[name]
    assert record.done_s is not None


@pytest.mark.parametrize("name", sorted(GOOD))
def test_an_answer_that_is_whole_is_ok_however_it_comes(server: Adversary, name: str) -> None:
    record = asked(server, name)
    assert record.error_class is None
    assert record.outcome is Outcome.OK
    assert (record.output_tokens_got, record.tokens_basis) == (2, "usage")
    assert list(record.chunk_tokens or ()) == [1, 1]
    assert record.input_tokens_got == 5
    assert record.server_request_id == "a-1"


@pytest.mark.parametrize(("told", "ending"), [(2, None), (4, None), (5, "too_long")])
def test_a_count_may_be_above_what_was_asked_by_the_tokens_of_an_end(
    server: Adversary, monkeypatch: pytest.MonkeyPatch, told: int, ending: str | None
) -> None:
    answer = ANSWERS["too_long"].replace(b"2000000", b"%-7d" % told)
    monkeypatch.setitem(ANSWERS, "counts", answer)
    record = asked(server, "counts")
    assert (record.error_class, record.output_tokens_got) == (ending, told)


@pytest.mark.parametrize(
    ("data", "error_class"),
    [
        (b'{"error":{"message":"no"}}', "error_in_stream"),
        (b'{"detail":"Context size has been exceeded."}', "kv_cache_full"),
        (b"out of memory", "error_event"),
        (b"[DONE]", "error_event"),
    ],
)
def test_an_event_of_the_type_error_is_one_whatever_its_data(
    server: Adversary, monkeypatch: pytest.MonkeyPatch, data: bytes, error_class: str
) -> None:
    event = b"event: error\ndata: " + data + b"\n\n"
    monkeypatch.setitem(ANSWERS, "typed", STREAM + chunk(ROLE + token("one") + event) + END)
    record = asked(server, "typed")
    assert (record.outcome, record.error_class) == (Outcome.FAILED, error_class)


def test_whatever_a_server_does_its_rows_are_sound(server: Adversary, tmp_path: Path) -> None:
    description = Description(origin=Origin.MEASURED, name="adversity")
    with RecordedRun.start(tmp_path / "run", description) as run:
        for number, name in enumerate(sorted(ANSWERS | ACTS)):
            run.append(replace(asked(server, name), request_id=number))
    check_sound(read_run(tmp_path / "run"))


def test_retry_after_is_kept_where_it_is_whole_seconds(server: Adversary) -> None:
    assert asked(server, "http_429").retry_after_s == 7.0
    assert asked(server, "http_503").retry_after_s is None
    assert asked(server, "http_500").retry_after_s is None


def test_a_redirect_is_not_followed(server: Adversary) -> None:
    before = len(server.heads)
    record = asked(server, "redirect")
    assert record.http_status == 307
    assert len(server.heads) == before + 1


def test_a_stream_that_was_cut_keeps_what_had_come(server: Adversary) -> None:
    record = asked(server, "closed_mid_stream")
    assert record.http_status == 200
    assert (record.output_tokens_got, record.tokens_basis) == (1, "chunks")
    assert list(record.chunk_offset_us or ()) == [0]
    assert record.first_role_s is not None
    assert record.first_content_s == record.first_answer_s == record.last_content_s


def test_a_refused_connection_is_told_from_a_name_that_does_not_resolve() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        refused = fetch_one(Target(f"http://127.0.0.1:{free.getsockname()[1]}"), planned())
    nameless = fetch_one(Target("http://no-such-host.invalid"), planned(), limits=LIMITS)
    assert (refused.error_class, refused.outcome) == ("connect_refused", Outcome.FAILED)
    assert (nameless.error_class, nameless.outcome) == ("dns", Outcome.FAILED)
    assert refused.dispatched_s is None
    assert refused.done_s is not None


def test_a_server_that_accepts_nobody_is_a_connection_timed_out() -> None:
    full = Limits(connect_s=0.3)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with socket.create_connection(deaf.getsockname()):
            records = fetch_all(Target(url), [planned(n) for n in range(3)], 3, limits=full)
    assert "connect_timeout" in {record.error_class for record in records}


def test_tls_that_is_not_trusted_is_an_outcome_and_trusted_tls_works(tmp_path: Path) -> None:
    try:
        pem = certificate(tmp_path)
    except FileNotFoundError:
        pytest.skip("needs the openssl command to make a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with adversary(context) as server:
        url = server.url("https", "localhost")
        distrusted = fetch_one(Target(url, "/v1/good"), planned(), limits=LIMITS)
        trusted = fetch_one(Target(url, "/v1/good", ca_file=str(pem)), planned())
        blind = fetch_one(Target(url, "/v1/good", check_certificate=False), planned())
        plain = fetch_one(Target(server.url(), "/v1/good"), planned(), limits=LIMITS)
        with proxy() as through:
            target = Target(
                url, "/v1/good", ca_file=str(pem), proxy=f"http://127.0.0.1:{through.port}"
            )
            tunnelled = fetch_one(target, planned())
            through.refuses = True
            turned_away = fetch_one(target, planned(), limits=LIMITS)
    assert (distrusted.error_class, distrusted.outcome) == ("tls", Outcome.FAILED)
    assert trusted.outcome is blind.outcome is tunnelled.outcome is Outcome.OK
    assert trusted.dispatched_s is not None
    assert plain.outcome is Outcome.FAILED
    assert through.asked[0][""] == f"CONNECT localhost:{server.port} HTTP/1.1"
    assert turned_away.error_class == "proxy"


def test_a_proxy_for_plain_http_is_given_the_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as through:
        monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{through.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        record = fetch_one(Target("http://server.invalid:8000"), planned())
        bypassed = Target("http://server.invalid:8000", proxy="")
        direct = fetch_one(bypassed, planned(), limits=LIMITS)
    assert record.outcome is Outcome.OK
    head = through.asked[0]
    assert head[""] == "POST http://server.invalid:8000/v1/chat/completions HTTP/1.1"
    assert head["host"] == "server.invalid:8000"
    assert head["proxy-authorization"] == "Basic dXNlcjpwYXNz"
    assert direct.error_class == "dns"


def test_ipv6_works() -> None:
    try:
        with adversary(host="::1") as server:
            record = fetch_one(Target(server.url(host="[::1]"), "/v1/good"), planned())
    except OSError:
        pytest.skip("needs IPv6 on loopback")
    assert record.outcome is Outcome.OK
    assert server.heads[0]["host"] == f"[::1]:{server.port}"


def test_the_key_comes_from_the_environment_or_a_file(
    server: Adversary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "k-from-environment")
    file = tmp_path / "key"
    file.write_text("k-from-file\n")
    fetch_one(Target(server.url(), "/v1/good", key_env="MY_KEY"), planned())
    fetch_one(Target(server.url(), "/v1/good", key_file=str(file)), planned())
    keys = [head["authorization"] for head in server.heads[-2:]]
    assert keys == ["Bearer k-from-environment", "Bearer k-from-file"]


def test_a_key_that_is_not_there_is_bad_input(server: Adversary) -> None:
    with pytest.raises(BadInput) as caught:
        fetch_one(Target(server.url(), key_env="NO_SUCH_KEY"), planned())
    assert str(caught.value) == "$NO_SUCH_KEY holds no API key; put the key there, on one line."


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://h", "'ftp://h' is no address of a server; write it as http://HOST:PORT or https://HOST."),
        ("http://", "'http://' is no address of a server; write it as http://HOST:PORT or https://HOST."),
        ("http://h:x", "'http://h:x' is no address of a server; write it as http://HOST:PORT or https://HOST."),
        ("http://u:p@h", "'http://h' holds a password; give the key by an environment variable or a file."),
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_bad_input(url: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        fetch_one(Target(url), planned())
    assert str(caught.value) == says


def test_every_class_has_a_sentence_with_a_remedy_or_a_reason() -> None:
    for each in FAILURES.values():
        assert each.sentence[0].isupper()
        assert each.sentence.endswith(".")
        assert each.outcome not in (Outcome.OK, Outcome.UNKNOWN, Outcome.CANCELLED)
