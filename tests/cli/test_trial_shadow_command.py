"""``vram trial shadow`` against servers whose differences are known by construction."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answering_server import Answering, Scripted, answering
from commands import vram, vram_here
from documents.json_keys import covers, documented, printed_paths
from rehearse_server import rehearsal

JSON_PAGE = Path(__file__).parents[2] / "docs/reference/json.md"
KEY = "sk-this-is-the-planted-key"
WORDS = [f" w{place}" for place in range(20)]
SURE = {" yes": 0.7, " no": 0.2}


def same(prompt: str) -> Scripted:
    """Twenty tokens, and the prompt's own."""
    return Scripted([f"{prompt[-6:]}|", *WORDS], chances=[SURE] * 21)


def parting(every: int, at: int) -> Callable[[str], Scripted]:
    """As `same`, but every so manyth prompt parts at token `at`, from 0."""

    def script(prompt: str) -> Scripted:
        said = same(prompt)
        if int(prompt.rsplit(maxsplit=1)[-1]) % every:
            return said
        return Scripted([*said.tokens[:at], " other", *said.tokens[at + 1 :]], chances=said.chances)

    return script


def prompts(folder: Path, count: int) -> Path:
    path = folder / "own.jsonl"
    lines = [json.dumps({"prompt": f"a secret wish number {n}"}) for n in range(count)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def shadow(a: Answering, b: Answering, folder: Path, *more: str) -> tuple[int, dict[str, Any]]:
    done = vram_here(
        ["trial", "shadow", "--a", a.url, "--b", b.url, "--prompts", str(prompts(folder, 40)), "--json", *more], folder
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_differences_at_known_places_are_found_there(tmp_path: Path) -> None:
    with answering(same) as a, answering(parting(4, 10)) as b:
        code, found = shadow(a, b, tmp_path, "--min-agreement", "0.5", "--repeat-a", "0.5")
    assert (code, found["verdict"]) == (0, "PASS")
    places = 10 * 11 + 30 * 21  # ten answers part at their eleventh token
    agreed = found["token_agreement"]
    assert agreed["value"] == pytest.approx(1 - 10 / places, abs=1e-6)
    assert agreed["low"] < agreed["value"] < agreed["high"]
    assert found["exact"]["value"] == 0.75
    assert found["parted"] == 10
    assert found["kept_tokens"]["value"] == pytest.approx((10 * 10 + 30 * 21) / (40 * 21), abs=1e-6)
    assert {each["prompt"] for each in found["compared"] if each["parted"]} == set(range(0, 40, 4))
    assert {each["agreed_tokens"] for each in found["compared"] if each["parted"]} == {10}
    assert found["noise"]["token_agreement"]["value"] == 1.0
    assert found["requests"] == {"asked": 40, "answered": 40, "unsent": 0, "repeated": 20}
    assert len(a.asked) == 60
    assert all(body["temperature"] == 0 for body in [*a.asked, *b.asked])
    listed = documented(JSON_PAGE.read_text(encoding="utf-8"))["vramledger.shadow/1"]
    assert [path for path in printed_paths(found) if not covers(listed, path)] == []


def test_two_copies_are_equal_and_another_is_not(tmp_path: Path) -> None:
    with answering(same) as a, answering(same) as b, answering(parting(2, 3)) as other:
        code, found = shadow(a, b, tmp_path)
        assert (code, found["verdict"], found["judged_by"]) == (0, "PASS", "noise")
        assert found["lengths"]["difference_tokens"]["value"] == 0
        assert found["kl"]["value"] == pytest.approx(0, abs=1e-9)
        code, found = shadow(a, other, tmp_path)
        assert (code, found["verdict"]) == (1, "FAIL")
        assert found["noise"]["p_value"] < 0.025


def test_distributions_differ_before_any_answer_does(tmp_path: Path) -> None:
    def surer(prompt: str) -> Scripted:
        return Scripted(same(prompt).tokens, chances=[{" yes": 0.85, " no": 0.05}] * 21)

    with answering(same) as a, answering(surer) as b:
        for api in ("chat", "completions"):
            _, found = shadow(a, b, tmp_path, "--api", api)
            assert found["parted"] == 0
            assert found["kl"]["value"] > 0.01
            assert found["kl"]["upper"] is None
            assert found["js"]["lower"]["value"] < found["js"]["upper"]["value"]
            assert found["kl"]["places"] == 40 * 21


def test_failures_are_counted_and_no_answer_is_dropped(tmp_path: Path) -> None:
    def failing(prompt: str) -> Scripted:
        bad = int(prompt.rsplit(maxsplit=1)[-1]) % 2
        return Scripted((), status=500) if bad else same(prompt)

    with answering(same) as a, answering(failing) as b:
        code, found = shadow(a, b, tmp_path, "--min-agreement", "0.98")
    assert (code, found["verdict"]) == (3, "INCONCLUSIVE")
    assert found["errors"] == {"a": {}, "b": {"http_500": 20}}
    assert found["requests"]["answered"] == 20
    assert found["token_agreement"]["value"] == 1.0
    assert found["token_agreement_with_failures"] == pytest.approx(
        1 - 20 / (20 * 21 + 20), abs=1e-6
    )


def test_what_tells_the_servers_apart_is_said(tmp_path: Path) -> None:
    def longer(prompt: str) -> Scripted:
        return Scripted(same(prompt).tokens, prompt_tokens=9)

    with answering(same) as a, answering(longer, model="other") as b:
        command = ["trial", "shadow", "--a", a.url, "--b", b.url, "--requests", "20"]
        done = vram_here(command, tmp_path)
    assert "note: The name of the model differs: A has made-up, B has other.\n" in done.stdout
    assert (
        "note: 20 prompts have another number of tokens on B than on A: the tokenizer or the chat template differs, and the "
        "two were asked different things.\n"
    ) in done.stdout


def test_a_server_that_tells_no_tokens_is_compared_by_words(tmp_path: Path) -> None:
    with answering(same) as a, answering(parting(4, 10), logprobs=False) as b:
        _, found = shadow(a, b, tmp_path)
        assert found["unit"] == "words"
        assert found["parted"] == 10
        assert (found["kl"]["value"], found["kl"]["reason"]) == (
            None,
            "there is nothing to average over",
        )
        record = ["trial", "shadow", "--a", a.url, "--record", "a.json", "--requests", "9"]
        assert vram_here(record, tmp_path).returncode == 0
        later = ["trial", "shadow", "--a-recorded", "a.json", "--b", b.url, "--requests", "9"]
        # the built-in questions end in no number, so the script is another one
        b.script = same
        done = vram_here(later, tmp_path)
    assert done.returncode == 3
    assert done.stderr.endswith(
        "One of the servers tells tokens and the other text alone, and a.json keeps no text to compare; ask both at the same "
        "time with --a and --b.\n"
    )


def test_recorded_answers_give_the_figures_of_both_at_once(tmp_path: Path) -> None:
    own = str(prompts(tmp_path, 40))
    with answering(same) as a, answering(parting(4, 10)) as b:
        _, at_once = shadow(a, b, tmp_path)
        record = ["trial", "shadow", "--a", a.url, "--record", "a.json", "--prompts", own]
        done = vram_here(record, tmp_path)
        assert (done.returncode, done.stdout) == (
            0,
            "Wrote a.json: 50 of 50 answers. Compare with --a-recorded a.json --b URL.\n",
        )
        later = [
            "trial",
            "shadow",
            "--a-recorded",
            "a.json",
            "--b",
            b.url,
            "--prompts",
            own,
            "--json",
        ]
        found = json.loads(vram_here(later, tmp_path).stdout)
    for name in (
        "token_agreement",
        "exact",
        "parted",
        "compared",
        "first_divergence_median",
        "noise",
    ):
        assert found[name] == at_once[name]
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600


def test_neither_text_nor_key_is_kept_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    with answering(same) as a, answering(parting(4, 10)) as b:
        code, _ = shadow(
            a,
            b,
            tmp_path,
            "-o",
            "results/shadow.json",
            "--html",
            "s.html",
            "--key-env-a",
            "A_KEY",
            "--repeat-a",
            "1",
        )
        assert code == 1
        assert set(a.keys) == {f"Bearer {KEY}"}
        assert set(b.keys) == {None}
        written = [
            (tmp_path / name).read_text("utf-8") for name in ("results/shadow.json", "s.html")
        ]
        for text in written:
            assert KEY not in text
            assert "secret wish" not in text
            assert " w3 w4" not in text
        _, found = shadow(a, b, tmp_path, "--html", "s.html", "--keep-text")
        assert found["texts"][4]["prompt"] == "a secret wish number 4"
        page = (tmp_path / "s.html").read_text("utf-8")
    assert "<strong>B goes on:</strong> other w10" in page


def test_the_plan_gives_the_threshold_and_reads_the_evidence(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "name: q\nmodel: Qwen/Qwen3-8B\ngpus: [H100-80GB-SXM]\nscenarios: {daily: {kind: latency}}\n"
        "workload: {input_tokens: {p50: 500, max: 2000}, output_tokens: {p50: 100, max: 500}, concurrent: 4}\n"
        "quality: {shadow: results/shadow.json, min_agreement: 0.98}\n",
        encoding="utf-8",
    )
    before = vram_here(["size", "plan.yaml"], tmp_path)
    assert (
        "it is not there yet, and vram trial shadow -o results/shadow.json writes it."
        in before.stdout
    )
    with answering(same) as a, answering(parting(4, 10)) as b:
        code, found = shadow(a, b, tmp_path, "--plan", "plan.yaml", "-o", "results/shadow.json")
    assert (code, found["threshold"]) == (3, 0.98)
    after = vram_here(["size", "plan.yaml"], tmp_path).stdout
    assert "made-up agrees with made-up in 98.65% of tokens (" in after
    assert "40 prompts); too few prompts to decide." in after


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "State the server to compare with: --a URL, or --a-recorded FILE that --record wrote."),
        (["--a", "http://h"], "State the server that is compared with --b URL, or record A's answers for later with --record FILE."),
        (["--a", "http://h", "--b", "http://h", "--record", "f"], "--record takes the answers of --a alone; leave --b and --a-recorded for the next command."),
        (["--a", "http://h", "--a-recorded", "f", "--b", "http://h"], "--a and --a-recorded both say what to compare with; give one of them."),
        (["--a", "http://h", "--b", "http://h", "--requests", "0"], "--requests is 0; take 1 to 1,000,000."),
        (["--a", "http://h", "--b", "http://h", "--repeat-a", "nan"], "--repeat-a is nan; take 0 to 1."),
        (["--a", "http://h", "--b", "http://h", "--min-agreement", "1.2"], "--min-agreement is 1.2; it is a share above 0 and up to 1, such as 0.98."),
        (["--a", "http://127.0.0.1:9", "--b", "http://127.0.0.1:9", "--requests", "500"], "There are 360 built-in questions, and --requests asks for 500; give --prompts FILE with your own, which say more about your load in any case."),
    ],
)  # fmt: skip
def test_questions_that_mean_nothing_are_refused(
    more: list[str], said: str, tmp_path: Path
) -> None:
    done = vram_here(["trial", "shadow", *more], tmp_path)
    assert (done.returncode, done.stderr) == (2, f"vram: {said}\n")


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    for content in (
        "",
        "[]",
        "{}",
        '{"schema": "vramledger.shadow-recording/1", "told": {"x": 1}}',
    ):
        (tmp_path / "a.json").write_text(content, encoding="utf-8")
        with answering(same) as b:
            done = vram_here(["trial", "shadow", "--a-recorded", "a.json", "--b", b.url], tmp_path)
        assert done.returncode == 2
        assert done.stderr == (
            "vram: a.json is no recording of answers (vramledger.shadow-recording/1); record A's answers anew with --record.\n"
        )


def test_two_rehearsal_servers_are_equal_and_are_no_evidence(tmp_path: Path) -> None:
    with rehearsal() as a, rehearsal() as b:
        command = ["trial", "shadow", "--a", a.address, "--b", b.address, "--requests", "40", "--max-tokens", "8", "--json"]  # fmt: skip
        done = vram(command, tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["basis"], found["verdict"]) == (0, "rehearsed", "PASS")
    assert found["token_agreement"]["value"] == 1.0
