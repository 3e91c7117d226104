#!/usr/bin/env python3
"""Training steps of one GPU, measured: time, host time, memory, power and kernels of models at several batches.

Needs a GPU of NVIDIA, PyTorch and nvidia-ml-py; Hugging Face's models only where their package is found. Writes one line of JSON for
each measurement, so that what was measured stays where the rest is interrupted:

    measure_steps.py [--seconds S] [--only PART]... OUT.jsonl

A step is forward, backward, clipping of the gradient's norm and AdamW, nothing read back from the device; weights are kept in 32 bits
and cast by autocast to bfloat16 unless a case says otherwise. `step_s` is the mean of the steps of two seconds after three that
warm up, `device_s` the sum of the times of all kernels of one step, `host_s` what the host takes to launch one step of 64 tokens (whose kernels take
next to nothing), `allocated_gib` and `reserved_gib` the peaks of the allocator, `power_w` the mean draw by the energy counter.
"""
import argparse
import gc
import json
import math
import os
import sys
import tempfile
import time
import traceback

import torch

import gpu_kernels
from gpu_models import Transformer, hugging_face, in_eight_bits
from model_shapes import MODELS
from other_models import MADE

try:
    import pynvml
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
except Exception:  # measured all the same, without watts and clocks
    pynvml = gpu = None

dev = "cuda"


# What is measured of a step.

def energy_j():
    return pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000 if pynvml else math.nan


def clock_mhz():
    return pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM) if pynvml else math.nan


def kernels_of(step):
    """Names, counts and seconds of what one step runs on the device."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]) as profile:
        step()
        torch.cuda.synchronize()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profile.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    found = {}
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            count, seconds = found.get(event["name"], (0, 0.0))
            found[event["name"]] = (count + 1, seconds + event["dur"] * 1e-6)
    return found


def timed(step, seconds):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    began = time.perf_counter()
    step()
    torch.cuda.synchronize()
    steps = max(4, math.ceil(seconds / (time.perf_counter() - began)))
    torch.cuda.reset_peak_memory_stats()
    began, joules = time.perf_counter(), energy_j()
    for _ in range(steps):
        step()
    clock = clock_mhz()
    torch.cuda.synchronize()
    took = time.perf_counter() - began
    return dict(step_s=took / steps, steps=steps, power_w=(energy_j() - joules) / took, sm_mhz=clock,
                allocated_gib=torch.cuda.max_memory_allocated() / 2**30, reserved_gib=torch.cuda.max_memory_reserved() / 2**30)


def run_case(case):
    """One model at one batch; see CASES."""
    torch.manual_seed(0)
    name = case["model"]
    with torch.device(dev):
        if name in MADE:
            model = MADE[name](case)
        elif case["code"] == "hugging_face":
            model = hugging_face(MODELS[name])
        else:
            model = Transformer(dict(MODELS[name], **{key: case[key] for key in ("experts_by",) if key in case}), case.get("recompute", False))
    if case["code"] == "hugging_face" and name in MODELS and case.get("recompute"):
        model.model.gradient_checkpointing_enable()
    if case["code"] == "hugging_face" and "experts_by" in case:
        model.model.set_experts_implementation(case["experts_by"])
    if case.get("bf16"):
        model = model.to(torch.bfloat16)
    if case.get("fp8"):
        for layer in model.layers:
            in_eight_bits(layer)
    if case.get("compile"):
        for layer in model.blocks if name in MADE else model.layers:
            layer.compile()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True if case.get("fused_adam") else None)
    accumulate = case.get("accumulate", 1)

    def batch(tokens):
        if name in MADE:
            return model.batch(case["mb"], tokens)
        return (torch.randint(0, MODELS[name]["vocab"], (case["mb"], tokens), device=dev),)

    def passes(data):
        for _ in range(accumulate):
            with torch.autocast(dev, dtype=torch.bfloat16, enabled=not case.get("bf16")):
                loss = model(*data)
            loss.backward()

    def update():
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    data = batch(case.get("seq", 0))

    def step():
        passes(data)
        update()

    row = dict(case, parameters=sum(p.numel() for p in model.parameters()), trained=sum(p.numel() for p in trained), tensors=len(list(model.parameters())))
    row.update(timed(step, case.get("seconds", 2.0)))
    began = time.perf_counter()
    step()
    row["launched_s"] = time.perf_counter() - began  # the whole of it where the queue of launches is not full
    torch.cuda.synchronize()
    kernels = kernels_of(step)
    row["kernels"] = sum(count for count, _ in kernels.values())
    row["device_s"] = sum(seconds for _, seconds in kernels.values())
    row["by_kernel"] = sorted(([n[:90], c, s] for n, (c, s) in kernels.items()), key=lambda k: -k[2])[:40]
    if case.get("host"):  # launched with next to nothing for the device to do
        data = batch(64)
        halves = []
        for _ in range(5):
            torch.cuda.synchronize()
            t0 = time.perf_counter()
            with torch.autocast(dev, dtype=torch.bfloat16, enabled=not case.get("bf16")):
                loss = model(*data)
            t1 = time.perf_counter()
            torch.cuda.synchronize()
            t2 = time.perf_counter()
            loss.backward()
            t3 = time.perf_counter()
            torch.cuda.synchronize()
            t4 = time.perf_counter()
            update()
            t5 = time.perf_counter()
            torch.cuda.synchronize()
            halves.append((t1 - t0, t3 - t2, t5 - t4))
        middle = [sorted(column)[2] for column in zip(*halves)]
        row.update(host_forward_s=middle[0], host_backward_s=middle[1], host_update_s=middle[2])
        row["host_s"] = timed(step, 0.5)["step_s"]
    return row


def steps(c, **more):
    return dict(part="steps", code="plain", model=c, **more)


def experts(c, by, **more):
    """16-bit weights, gradients and moments, so that layers as wide as the published ones lie on one device."""
    return dict(part="experts", code="plain", model=c, experts_by=by, bf16=True, fused_adam=True, **more)


EXPERTS = [
    experts("qwen3_30b_a3b_4_layers", "grouped", mb=2, seq=4096, host=True),
    experts("qwen3_30b_a3b_4_layers", "modules", mb=2, seq=4096, host=True),
    experts("qwen3_30b_a3b_4_layers", "loop", mb=2, seq=4096),
    experts("qwen3_30b_a3b_4_layers", "grouped", mb=2, seq=4096, compile=True),
    experts("mixtral_8x7b_2_layers", "grouped", mb=2, seq=4096, host=True),
    experts("mixtral_8x7b_2_layers", "modules", mb=2, seq=4096, host=True),
    experts("mixtral_8x7b_2_layers", "grouped", mb=2, seq=4096, compile=True),
    experts("olmoe_8_layers", "grouped", mb=4, seq=2048),
    experts("olmoe_8_layers", "grouped", mb=1, seq=1024, host=True),
    experts("olmoe_8_layers", "modules", mb=1, seq=1024, host=True),
    experts("olmoe_8_layers", "modules", mb=4, seq=2048),
    experts("olmoe_8_layers", "grouped", mb=4, seq=2048, compile=True, host=True),
    experts("gpt_oss_20b_4_layers", "grouped", mb=2, seq=4096),
    experts("gpt_oss_20b_4_layers", "modules", mb=2, seq=4096),
    experts("deepseek_v3_32_experts_2_layers", "grouped", mb=1, seq=4096),
    experts("deepseek_v3_32_experts_2_layers", "modules", mb=1, seq=4096),
    experts("deepseek_v3_32_experts_2_layers", "grouped", mb=1, seq=4096, compile=True),
    experts("qwen3_30b_a3b_4_layers", "grouped", mb=2, seq=4096, recompute=True),
    dict(experts("qwen3_30b_a3b_4_layers", "grouped_mm", mb=2, seq=4096), code="hugging_face"),
    dict(experts("qwen3_30b_a3b_4_layers", "eager", mb=2, seq=4096), code="hugging_face"),
    dict(experts("mixtral_8x7b_2_layers", "grouped_mm", mb=2, seq=4096), code="hugging_face"),
    dict(experts("mixtral_8x7b_2_layers", "eager", mb=2, seq=4096), code="hugging_face"),
    dict(experts("olmoe_8_layers", "grouped", mb=1, seq=2048), bf16=False),
]

def others(c, **more):
    return dict(part="others", code="plain" if c in ("dit_xl_2", "sdxl_unet") else "timm" if c[:3] == "vit" else "hugging_face", model=c, seconds=1.5, **more)


ATTENTION, LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj"], ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
OTHERS = [
    others("bert_large", mb=16, seq=512, host=True),
    others("vit_l_16", mb=64),
    others("t5_large", mb=8, seq=512, host=True),
    others("whisper_small", mb=16, seq=1500),
    others("dit_xl_2", mb=64),
    others("sdxl_unet", mb=4),
    others("gemma3_1b", mb=2, seq=4096, host=True),
    others("qwen3_0_6b", mb=4, seq=2048, host=True),
    others("llama3_8b", mb=1, seq=4096, adapters=16, adapted=ATTENTION, host=True),
    others("llama3_8b", mb=4, seq=4096, adapters=16, adapted=LINEAR, recompute=True),
    dict(steps("llama2_7b_4_layers", mb=1, seq=32768), part="others"),
    others("bert_large", mb=64, seq=128),
    others("bert_large", mb=16, seq=512, dropout=0.1),
    others("vit_l_16", mb=8),
    others("vit_h_14", mb=32),
    others("whisper_large_v3", mb=4, seq=1500),
    others("dit_xl_2", mb=4),
    others("sdxl_unet", mb=1),
    others("bert_large", mb=16, seq=512, compile=True, fused_adam=True),
    others("dit_xl_2", mb=64, compile=True, fused_adam=True),
    others("vit_l_16", mb=64, compile=True, fused_adam=True),
    others("t5_large", mb=8, seq=512, compile=True, fused_adam=True),
    others("whisper_small", mb=16, seq=1500, compile=True, fused_adam=True),
    others("qwen3_0_6b", mb=4, seq=2048, compile=True, fused_adam=True),
    dict(steps("llama2_7b_4_layers", mb=1, seq=32768, compile=True, fused_adam=True), part="others"),
    others("sdxl_unet", mb=4, compile=True, fused_adam=True),
]

EIGHT_BITS = [
    dict(steps(model, **more), part="eight_bits", compile=True, fused_adam=True, bf16=True)
    for model, batch in (("llama3_8b_6_layers", dict(mb=2, seq=4096)), ("llama3_70b_2_layers", dict(mb=2, seq=4096)),
                         ("llama32_1b", dict(mb=4, seq=2048)))
    for more in (batch, dict(batch, fp8=True))
]

CASES = [
    steps("llama32_1b", mb=1, seq=2048, host=True),
    steps("llama32_1b", mb=4, seq=2048),
    steps("llama32_1b", mb=1, seq=8192),
    steps("gpt2", mb=4, seq=1024, host=True),
    steps("gpt2", mb=32, seq=1024),
    steps("llama32_1b", mb=4, seq=2048, compile=True, fused_adam=True, host=True),
    steps("gpt2", mb=32, seq=1024, compile=True, fused_adam=True, host=True),
    dict(part="steps", code="hugging_face", model="llama32_1b", mb=1, seq=2048, fused_adam=True, host=True),
    dict(part="steps", code="hugging_face", model="llama32_1b", mb=4, seq=2048, fused_adam=True),
    steps("llama3_8b_6_layers", mb=2, seq=4096),
    steps("llama3_8b_6_layers", mb=2, seq=4096, compile=True, fused_adam=True),
    steps("llama3_70b_2_layers", mb=2, seq=4096),
    steps("llama32_3b", mb=1, seq=4096, recompute=True, host=True),
    steps("qwen25_05b", mb=8, seq=2048, host=True),
    dict(part="steps", code="plain", model="resnet50", mb=64),
    dict(part="steps", code="plain", model="resnet50", mb=256),
    steps("llama32_1b", mb=8, seq=2048, recompute=True),
    steps("llama32_1b", mb=4, seq=2048, bf16=True),
    steps("llama32_1b", mb=2, seq=2048, accumulate=4),
    steps("gpt2_xl", mb=4, seq=1024, host=True),
    steps("gpt2_xl", mb=4, seq=1024, compile=True, fused_adam=True),
    steps("qwen25_05b", mb=8, seq=2048, compile=True, fused_adam=True),
    dict(part="steps", code="hugging_face", model="qwen25_05b", mb=8, seq=2048, fused_adam=True),
    dict(part="steps", code="plain", model="resnet50", mb=256, compile=True),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=600, help="no case begins after so long")
    parts = [part.__name__ for part in gpu_kernels.PARTS] + ["experts", "eight_bits", "steps", "others"]
    parser.add_argument("--only", action="append", choices=parts, help="may be repeated")
    chosen = parser.parse_args()
    began = time.perf_counter()
    with open(chosen.out, "w") as out:
        def emit(**row):
            out.write(json.dumps(row) + "\n")
            out.flush()
        emit(part="machine", gpu=torch.cuda.get_device_name(), torch=torch.__version__, cuda=torch.version.cuda, cores=os.cpu_count(),
             host=next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?"),
             power_limit_w=pynvml.nvmlDeviceGetEnforcedPowerLimit(gpu) / 1000 if pynvml else None)
        for part in gpu_kernels.PARTS:
            if not chosen.only or part.__name__ in chosen.only:
                try:
                    part(emit)
                except Exception:
                    emit(part="error", of=part.__name__, error=traceback.format_exc()[-600:])
                torch.cuda.empty_cache()
                print(f"{part.__name__}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        for case in EXPERTS + EIGHT_BITS + CASES + OTHERS:
            if chosen.only and case["part"] not in chosen.only:
                continue
            if time.perf_counter() - began > chosen.seconds:
                emit(part="error", of=case, error="no time left")
                continue
            try:
                emit(**run_case(case))
            except Exception:
                emit(part="error", of=case, error=traceback.format_exc()[-600:])
            torch._dynamo.reset()
            gc.collect()
            torch.cuda.empty_cache()
            print(f"{case}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
