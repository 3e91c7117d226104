#!/usr/bin/env python3
"""Measured steps of one GPU as a table that `podsim validate` and `--anchor` read:

    steps_table.py CHIP FABRIC OUT.jsonl [CHIP FABRIC OUT.jsonl]... >one_gpu_steps.csv

CHIP and FABRIC are names of podsim's catalogue, OUT.jsonl what measure_steps.py wrote. Beside the columns of runs stand what
podsim does not read: device time of a step by kind of kernel, host time, memory and power.
"""
import csv
import json
import re
import sys

from model_shapes import MODELS

# Tokens of a sequence where the catalogue has the model as a whole: patches and a class, positions of 30 s of sound, or 1 for images.
TOKENS = {"resnet50": 1, "dit_xl_2": 1, "sdxl_unet": 1, "vit_l_16": 197, "vit_h_14": 257}
ROTARY = "llama|qwen|gemma|mixtral|olmoe|gpt_oss|deepseek"
MATMULS = {"q_proj": "qkv", "o_proj": "attention out", "gate_proj": "ffn up", "down_proj": "ffn down"}

RUN = ("id family source chip chips model arch layers hidden heads kv_heads head_dim ffn_hidden ffn_matrices vocab seq_len "
       "n_experts topk global_batch_seqs micro_batch tp cp pp ep dp dp_sharding recompute precision step_time_s sim_ready fabric stack stack_fields "
       "attention_kernel adapters catalog_model model_fields notes").split()
MEASURED = ("kernels device_ms matmul_ms grouped_ms attention_ms loss_ms update_ms convolution_ms other_ms host_forward_ms host_backward_ms "
            "host_update_ms allocated_gib reserved_gib power_w sm_mhz").split()
# The first that a kernel's name holds says what it is for; of libraries that name convolutions and attention alike, attention first.
KINDS = [("attention", "sdpa|flash|fmha|compute_dot_do_o|convert_dq"), ("grouped", "enable_3x_kernel_for_sm9x"), ("matmul", "nvjet|gemm|splitK"), ("loss", "SoftMax|nll|softmax"),
         ("update", "multi_tensor|adam|lpnorm"), ("convolution", "conv|cudnn|bn_|batch_norm")]


def kind_of(kernel):
    return next((kind for kind, words in KINDS if re.search(words, kernel)), "other")


def stack_of(row):
    """The generic stack of the code, and what is known of it beyond."""
    fields = []
    if re.match(ROTARY, row["model"]) and not row.get("compile"):
        fields.append("fused { rotary: false }" if row.get("bf16") else "fused { norm: false rotary: false }")
    elif row["model"].startswith("t5") and not row.get("compile"):
        fields.append("fused { norm: false }")
    if not row.get("bf16") and not row.get("compile"):  # weights in 32 bits, and gradients in 32 bits alone
        fields.append("gradient_memory_bytes: 4")
    if row.get("bf16"):  # weights, gradients and both moments in 16 bits
        fields += ["optimizer_state_bytes: 4", "gradient_bytes: 2", "gradient_memory_bytes: 2", "gradient_add_bytes: 0"]
    if row.get("bf16") and row.get("fused_adam"):
        fields.append("optimizer_traffic: 3.5")  # kernels of these rows move 3.2 to 3.9 times the state: docs/evidence/one-gpu.md
    elif row.get("fused_adam") and not row.get("compile"):
        fields.append("optimizer_traffic: 2")
    if row.get("experts_by") == "modules":  # called one by one, for 0.75 ms each, once the host knows its tokens: likewise
        fields.append("experts { kernels_per_expert: 25 synchronises: true }")
    return "generic_compiled" if row.get("compile") else "generic_eager", " ".join(fields)


def adds_up_gradients(row):
    """Experts called one by one out of one tensor: autograd adds up the gradient of all of them once for each, which no field stands for."""
    return row.get("experts_by") in ("loop", "eager")


def named(row):
    parts = [row["model"], f"{row['mb']}x{row['seq']}" if "seq" in row else str(row["mb"])]
    parts += [f"{row['accumulate']}times"] if "accumulate" in row else []
    parts += [row["experts_by"]] if "experts_by" in row else []
    parts += [f"dropout{row['dropout']}"] if "dropout" in row else []
    parts += [f"rank{row['adapters']}x{len(row['adapted'])}"] if "adapters" in row else []
    parts += [word for word in ("compile", "recompute", "bf16", "fp8") if row.get(word)]
    return "-".join(parts + (["hf"] if row["code"] == "hugging_face" else []))


def shape(row):
    model = MODELS.get(row["model"])
    if not model:
        return dict(catalog_model=row["model"], seq_len=TOKENS.get(row["model"], row.get("seq")))
    experts = dict(n_experts=model["experts"], topk=model["topk"]) if "experts" in model else {}
    return dict(experts, layers=model["layers"], hidden=model["h"], heads=model["heads"], kv_heads=model.get("kv", model["heads"]),
                head_dim=model.get("head", model["h"] // model["heads"]), ffn_hidden=model["ff"],
                ffn_matrices=2 if model["kind"] == "gpt" else 3, vocab=model["vocab"], seq_len=row["seq"])


def table_row(row, machine, chip, fabric):
    stack, fields = stack_of(row)
    made = dict(id=f"{chip}-{named(row)}", family="one-gpu", chip=chip, chips=1, model=row["model"], arch="moe" if "experts_by" in row else "dense", fabric=fabric, tp=1, cp=1, pp=1,
                ep=1, dp=1, dp_sharding="ddp", precision="fp8_tensorwise" if row.get("fp8") else "bf16", recompute="full" if row.get("recompute") else "none", sim_ready=1,
                source=f"measure_steps.py: {machine['gpu']}, PyTorch {machine['torch']}", stack=stack, stack_fields=fields,
                attention_kernel="unfused" if row["model"].startswith("t5") else "cudnn", micro_batch=row["mb"], global_batch_seqs=row["mb"] * row.get("accumulate", 1),
                step_time_s=f"{row['step_s']:.5f}", notes="Hugging Face's model" if row["code"] == "hugging_face" else "", **shape(row))
    if "dropout" in row:
        made["model_fields"] = "dropout: true"
    if "adapters" in row:
        made["adapters"] = f"rank: {row['adapters']} " + " ".join(f'matmul: "{MATMULS[m]}"' for m in row["adapted"] if m in MATMULS)
    by_kind = {}
    for name, _, seconds in row["by_kernel"]:
        by_kind[kind_of(name)] = by_kind.get(kind_of(name), 0) + seconds
    by_kind["other"] = row["device_s"] - sum(seconds for kind, seconds in by_kind.items() if kind != "other")
    made.update({f"{kind}_ms": f"{seconds * 1e3:.2f}" for kind, seconds in by_kind.items()})
    made.update({key.replace("_s", "_ms"): f"{row[key] * 1e3:.2f}" for key in row if re.fullmatch("device_s|host_(forward|backward|update)_s", key)})
    made.update(kernels=row["kernels"], power_w=round(row["power_w"]), sm_mhz=row["sm_mhz"],
                **{key: f"{row[key]:.2f}" for key in ("allocated_gib", "reserved_gib")})
    return made


def main():
    out = csv.DictWriter(sys.stdout, RUN + MEASURED, lineterminator="\n")
    out.writeheader()
    arguments = sys.argv[1:]
    for chip, fabric, file in zip(arguments[::3], arguments[1::3], arguments[2::3]):
        rows = [json.loads(line) for line in open(file)]
        for row in rows:
            if row["part"] in ("steps", "experts", "eight_bits", "others") and not adds_up_gradients(row):
                out.writerow(table_row(row, rows[0], chip, fabric))


if __name__ == "__main__":
    main()
