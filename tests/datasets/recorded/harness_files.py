"""Small logs in the shapes that harnesses write, made here so that no test needs a file from elsewhere."""

import json
import zipfile

import pyarrow as pa
import pyarrow.parquet

LETTERS = "ABCD"


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lm_eval_row(i, text, answer, right, filter_name="strict-match", **more):
    return {
        "doc_id": i,
        "doc": {"question": f"What is {i} + {i}?", "answer": f"Twice.\n#### {2 * i}"},
        "target": f"Twice.\n#### {2 * i}",
        "arguments": {"gen_args_0": {"arg_0": f"Q: What is {i} + {i}?\nA:", "arg_1": {"until": ["Q:"], "do_sample": False}}},
        "resps": [[text]],
        "filtered_resps": [answer],
        "filter": filter_name,
        "metrics": ["exact_match"],
        "doc_hash": f"{i:064x}",
        "exact_match": float(right),
    } | more


def lm_eval(folder, model="m-1", n=6, n_right=4, stamp="2025-01-01T00-00-00.000001"):
    """Two filters on the same texts: strict-match reads none of them, flexible-extract all."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [f"That makes {2 * i if i < n_right else 2 * i + 1}" for i in range(n)]
    rows = [lm_eval_row(i, text, "[invalid]", False) for i, text in enumerate(texts)]
    rows += [lm_eval_row(i, t, t.split()[-1], i < n_right, "flexible-extract") for i, t in enumerate(texts)]
    results = {
        "results": {"gsm8k": {"exact_match,strict-match": 0.0, "exact_match,flexible-extract": n_right / n}},
        "versions": {"gsm8k": 3},
        "configs": {"gsm8k": {}},
        "n-samples": {"gsm8k": {"original": n, "effective": n}},
        "config": {"model": "local", "model_args": f"model={model},base_url=http://x"},
    }
    (folder / f"results_{stamp}.json").write_text(json.dumps(results), encoding="utf-8")
    return lines(folder / f"samples_gsm8k_{stamp}.jsonl", rows)


def lm_eval_scored(path, n=5):
    """Log-likelihoods: the sums say option 0, per character option 1."""
    rows = [
        {
            "doc_id": i,
            "doc": {"question": f"Which, {i}?", "choices": ["a b", "a rather long one"], "answer": 1},
            "target": "1",
            "arguments": {
                f"gen_args_{k}": {"arg_0": f"Q: Which, {i}?\nA:", "arg_1": f" {option}"}
                for k, option in enumerate(["a b", "a rather long one"])
            },
            "resps": [[["-4.0", "False"]], [["-6.0", "False"]]],
            "filtered_resps": [["-4.0", "False"], ["-6.0", "False"]],
            "filter": "none",
            "metrics": ["acc", "acc_norm"],
            "doc_hash": f"s{i:063x}",
            "acc": 0.0,
            "acc_norm": 1.0,
        }
        for i in range(n)
    ]
    return lines(path, rows)


def inspect_sample(i, epoch=1, text="ANSWER: A", value="C", **more):
    return {
        "id": i,
        "epoch": epoch,
        "input": f"Which is {i}?",
        "choices": ["oak", "tin", "ash"],
        "target": "A",
        "messages": [{"role": "user", "content": "attachment://aa11"}, {"role": "assistant", "content": text}],
        "output": {
            "model": "m-dated",
            "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
            "usage": {"input_tokens": 9, "output_tokens": 3},
        },
        "scores": {"choice": {"value": value, "answer": text[-1]}},
        "attachments": {"aa11": f"Which is {i}?\nA) oak\nB) tin\nC) ash"},
        "metadata": {},
    } | more


def inspect_header(value, n):
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "woods", "model": "openai/m-1", "dataset": {"name": "woods"}, "config": {}},
        "plan": {"config": {"temperature": 0.5}},
        "results": {
            "completed_samples": n,
            "scores": [{"name": "choice", "scorer": "choice", "metrics": {"accuracy": {"name": "accuracy", "value": value}}}],
        },
    }


def inspect_eval(path, samples, header=None, method=zipfile.ZIP_DEFLATED):
    """A log as a zip; without `header` it never finished."""
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("_journal/start.json", json.dumps(inspect_header(0, 0)))
        for one in samples:
            packed.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
        if header:
            packed.writestr("header.json", json.dumps(header))
    return path


def chunked(path):
    """One sample whole, one in chunks: messages by reference, attachments by index, over two chunks each."""
    whole, parts = inspect_sample(1), inspect_sample(2, text="ANSWER: B", value="I")
    shell = {key: value for key, value in parts.items() if key not in ("messages", "attachments", "metadata")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", json.dumps(inspect_header(0.5, 2)))
        packed.writestr("samples/1_epoch_1.json", json.dumps(whole))
        base = "samples/2_epoch_1"
        packed.writestr(f"{base}/sample.json", json.dumps(shell | {"message_refs": [[0, 1], [2, 3]]}))
        packed.writestr(f"{base}/metadata.json", json.dumps({"subject": "trees"}))
        packed.writestr(f"{base}/messages/0.json", json.dumps([{"role": "user", "content": "attachment://1"}, {"role": "x"}]))
        packed.writestr(f"{base}/messages/2.json", json.dumps([{"role": "assistant", "content": "ANSWER: B"}]))
        packed.writestr(f"{base}/attachments/0.json", json.dumps(["something else"]))
        packed.writestr(f"{base}/attachments/1.json", json.dumps(["Which is 2?\nA) oak\nB) tin\nC) ash"]))
    return path


def eee(folder, version="0.3.0", n=4, n_right=3):
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "schema_version": version,
            "evaluation_id": "woods/m/1",
            "model_id": "dev/m-2",
            "evaluation_name": "woods",
            "sample_id": f"q{i}",
            "interaction_type": "single_turn",
            "input": {"raw": f"Capital of {i}?", "reference": ["The Hague", "Den Haag"]},
            "output": {"raw": ["It is " + ("Den Haag." if i < n_right else "Ghent.")]},
            "answer_attribution": [
                {
                    "turn_idx": 0,
                    "source": "output.raw",
                    "extracted_value": "den haag" if i < n_right else "Ghent",
                    "extraction_method": "pattern",
                    "is_terminal": True,
                }
            ],
            "evaluation": {"score": float(i < n_right), "is_correct": i < n_right},
            "token_usage": {"input_tokens": 5, "output_tokens": 4, "total_tokens": 9},
        }
        for i in range(n)
    ]
    aggregate = {
        "schema_version": version,
        "evaluation_id": "woods/m/1",
        "model_info": {"id": "dev/m-2", "name": "m"},
        "evaluation_results": [
            {
                "evaluation_name": "woods",
                "metric_config": {"metric_id": "accuracy", "lower_is_better": False},
                "score_details": {"score": n_right / n, "uncertainty": {"num_samples": n}},
            }
        ],
    }
    (folder / "x.json").write_text(json.dumps(aggregate), encoding="utf-8")
    return lines(folder / "x_samples.jsonl", rows)


def helm(folder, n=4):
    """Each item twice: as it is (right) and with typos (wrong); the log-probability is the placeholder 0."""
    folder.mkdir(parents=True, exist_ok=True)
    states, stats = [], []
    for i in range(n):
        for perturbation, label in ((None, "A"), ({"name": "typos"}, "B")):
            instance = {
                "id": f"id{i}",
                "split": "test",
                "input": {"text": f"Which is {i}?" if not perturbation else f"Wich is {i}?"},
                "references": [{"output": {"text": "oak"}, "tags": ["correct"]}, {"output": {"text": "tin"}, "tags": []}],
            } | ({"perturbation": perturbation} if perturbation else {})
            states.append(
                {
                    "instance": instance,
                    "train_trial_index": 0,
                    "output_mapping": {"A": "oak", "B": "tin"},
                    "request": {"model": "org/m-3", "prompt": f"{instance['input']['text']}\nA. oak\nB. tin\nAnswer:"},
                    "result": {
                        "success": True,
                        "completions": [
                            {
                                "text": f" {label}",
                                "logprob": 0,
                                "tokens": [{"text": label, "logprob": 0}],
                                "finish_reason": {"reason": "length"},
                            }
                        ],
                    },
                }
            )
            stat = {"name": {"name": "exact_match"}, "count": 1, "sum": float(label == "A")}
            stats.append({"instance_id": f"id{i}", "train_trial_index": 0, "perturbation": perturbation, "stats": [stat]})
    (folder / "scenario_state.json").write_text(
        json.dumps({"adapter_spec": {"method": "multiple_choice_joint"}, "request_states": states}), encoding="utf-8"
    )
    (folder / "per_instance_stats.json").write_text(json.dumps(stats), encoding="utf-8")
    spec = {"name": "woods:model=org_m-3", "scenario_spec": {}, "adapter_spec": {}}
    (folder / "run_spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return folder


def lighteval(path, names=("__doc__", "__model_response__", "__metric__")):
    rows = [
        {
            "__doc__": {"query": f"Which is {i}?", "choices": [" oak", " tin"], "gold_index": [0], "id": str(i)},
            "__model_response__": {"input": f"Which is {i}?", "logprobs": [-1.0, -2.5 + i], "text": []},
            "__metric__": {"acc": float(-1.0 > -2.5 + i)},
        }
        for i in range(3)
    ]
    rows = [dict(zip(names, row.values(), strict=True)) for row in rows]
    pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def lighteval_newest(path):
    """As from 0.13 on."""
    return lighteval(path, ("doc", "model_response", "metric"))


def lighteval_old(path):
    rows = [
        {
            "example": f"Which is {i}?",
            "full_prompt": f"Q: Which is {i}?\nA:",
            "choices": "[' oak', ' tin']",
            "gold_index": 0,
            "predictions": f"[(-1.0, False), ({-2.5 + i}, False)]",
            "metrics": str({"acc": float(-1.0 > -2.5 + i)}),
        }
        for i in range(3)
    ]
    pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def zeroeval(path, n=4, n_right=3):
    rows = [
        {
            "session_id": f"s{i}",
            "id": f"s{i}",
            "question": f"What is {i} + {i}?",
            "chat_history": [f"What is {i} + {i}? Answer in JSON."],
            "output": ['```json\n{"reasoning": "…", "answer": "' + str(2 * i if i < n_right else -1) + '"}\n```'],
            "generator": "org/m-4",
            "configs": {"temperature": 0.0, "max_tokens": 99},
            "answer": f"# {2 * i}",
            "dataset": "sums",
        }
        for i in range(n)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def promptfoo(path):
    """Two prompts, three tests: the second prompt fails one; one call failed."""
    results = []
    for prompt in (0, 1):
        for test in range(3):
            right = not (prompt == 1 and test == 0)
            results.append(
                {
                    "promptIdx": prompt,
                    "testIdx": test,
                    "provider": {"id": "openai:m-5"},
                    "prompt": {"raw": f"P{prompt}: capital of {test}?"},
                    "vars": {"land": str(test)},
                    "testCase": {"vars": {"land": str(test)}},
                    "success": right,
                    "score": float(right),
                    "response": {
                        "output": "Rome" if right else "Oslo",
                        "tokenUsage": {"prompt": 4, "completion": 1},
                        "cost": 0.1,
                    },
                    "gradingResult": {
                        "pass": right,
                        "componentResults": [{"pass": right, "score": 1, "assertion": {"type": "equals", "value": "Rome"}}],
                    },
                    "failureReason": 0 if right else 1,
                }
            )
    results[2] |= {"failureReason": 2, "error": "Rate limit.", "success": False}
    results[2].pop("response")
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}), encoding="utf-8")
    return path


def promptfoo_of_providers(path, n_providers=3):
    """One prompt and four tests by several providers: `promptIdx` counts the pairs of prompt and provider."""
    results = [
        {
            "promptIdx": place,
            "promptId": "3e0c16",
            "testIdx": test,
            "provider": {"id": f"openai:m-{place}"},
            "prompt": {"raw": f"Capital of {test}?"},
            "vars": {"land": str(test)},
            "testCase": {"vars": {"land": str(test)}},
            "success": place > test,
            "score": float(place > test),
            "response": {"output": "Rome"},
            "gradingResult": {"pass": place > test, "componentResults": []},
            "failureReason": int(place <= test),
        }
        for test in range(4)
        for place in reversed(range(n_providers))
    ]
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}), encoding="utf-8")
    return path


def openai_evals(path, n=3):
    rows = [{"spec": {"completion_fns": ["m-6"], "eval_name": "caps.dev.v0", "base_eval": "caps", "run_id": "r"}}]
    for i in range(n):
        common = {"run_id": "r", "event_id": 2 * i, "sample_id": f"caps.{i}", "created_by": "", "created_at": ""}
        picked = "Rome" if i else None
        verdict = {"correct": bool(i), "expected": "Rome", "picked": picked, "sampled": f"It is Rome{i}", "options": ["Rome"]}
        rows.append(common | {"type": "match", "data": verdict})
        rows.append(common | {"type": "sampling", "data": {"prompt": f"Capital {i}?", "sampled": [f"It is Rome{i}"]}})
    rows.append({"final_report": {"accuracy": (n - 1) / n}})
    return lines(path, rows)


def openai_graded(path, choices=("Yes", "No", "__invalid__"), **more):
    """Model-graded: the answer, the grader's reply to a prompt that quotes it, and its choice with a score."""
    rows = [{"spec": {"completion_fns": ["m-6"], "eval_name": "poems.dev.v0", "base_eval": "poems", "run_id": "r"}}]
    for i, choice in enumerate(choices):
        common = {"run_id": "r", "sample_id": f"poems.{i}", "created_by": "", "created_at": ""}
        asked = [{"role": "user", "content": f"Write line {i}."}]
        quoted = [{"role": "user", "content": f"Is this a poem? [Line {i}]: A line {i}. Answer Yes or No."}]
        events = [
            ("sampling", {"prompt": asked, "sampled": [f"A line {i}."]}),
            ("sampling", {"prompt": quoted, "sampled": [f"I think so. {choice}"]}),
            ("metrics", {"choice": choice, "score": {"Yes": 1.0}.get(choice, 0.0)} | more),
        ]
        rows += [common | {"event_id": 3 * i + k, "type": kind, "data": data} for k, (kind, data) in enumerate(events)]
    share = choices.count("Yes") / len(choices)
    rows.append({"final_report": {"counts/Yes": choices.count("Yes"), "score": share}})
    return lines(path, rows)
