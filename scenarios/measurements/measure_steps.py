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
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

try:
    import pynvml
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
except Exception:  # measured all the same, without watts and clocks
    pynvml = gpu = None

dev = "cuda"


# Models: as people write them, each layer a module of its own.

def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class LlamaLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv, self.size = c["heads"], c["kv"], c.get("head", c["h"] // c["heads"])
        self.norm1, self.norm2 = nn.RMSNorm(c["h"]), nn.RMSNorm(c["h"])
        self.q = nn.Linear(c["h"], self.heads * self.size, bias=False)
        self.k = nn.Linear(c["h"], self.kv * self.size, bias=False)
        self.v = nn.Linear(c["h"], self.kv * self.size, bias=False)
        self.o = nn.Linear(self.heads * self.size, c["h"], bias=False)
        self.gate = nn.Linear(c["h"], c["ff"], bias=False)
        self.up = nn.Linear(c["h"], c["ff"], bias=False)
        self.down = nn.Linear(c["ff"], c["h"], bias=False)

    def forward(self, x, cos, sin):
        b, s, _ = x.shape
        y = self.norm1(x)
        q = self.q(y).view(b, s, self.heads, self.size).transpose(1, 2)
        k = self.k(y).view(b, s, self.kv, self.size).transpose(1, 2)
        v = self.v(y).view(b, s, self.kv, self.size).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        a = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True, enable_gqa=self.kv != self.heads)
        x = x + self.o(a.transpose(1, 2).reshape(b, s, -1))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class GptLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c["heads"]
        self.norm1, self.norm2 = nn.LayerNorm(c["h"]), nn.LayerNorm(c["h"])
        self.qkv, self.o = nn.Linear(c["h"], 3 * c["h"]), nn.Linear(c["h"], c["h"])
        self.up, self.down = nn.Linear(c["h"], c["ff"]), nn.Linear(c["ff"], c["h"])

    def forward(self, x, cos, sin):
        b, s, h = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(h, dim=2)
        q, k, v = (t.view(b, s, self.heads, h // self.heads).transpose(1, 2) for t in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, s, h))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, c, recompute):
        super().__init__()
        self.c, self.recompute = c, recompute
        self.embedding = nn.Embedding(c["vocab"], c["h"])
        self.position = nn.Embedding(c["positions"], c["h"]) if c["kind"] == "gpt" else None
        self.layers = nn.ModuleList((GptLayer if c["kind"] == "gpt" else LlamaLayer)(c) for _ in range(c["layers"]))
        self.norm = nn.LayerNorm(c["h"]) if c["kind"] == "gpt" else nn.RMSNorm(c["h"])
        self.head = nn.Linear(c["h"], c["vocab"], bias=False)
        if c.get("tied"):
            self.head.weight = self.embedding.weight
        size = c.get("head", c["h"] // c["heads"])
        angle = torch.outer(torch.arange(16384).float(), 1 / 10000 ** (torch.arange(0, size, 2).float() / size))
        angle = torch.cat((angle, angle), dim=-1)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, ids):
        s = ids.shape[1]
        x = self.embedding(ids)
        if self.position is not None:
            x = x + self.position.weight[:s]
        kind = torch.bfloat16
        x = x.to(kind)  # as frameworks that keep the residual in 16 bits
        cos, sin = self.cos[:s].to(kind), self.sin[:s].to(kind)
        for layer in self.layers:
            x = checkpoint(layer, x, cos, sin, use_reentrant=False) if self.recompute else layer(x, cos, sin)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), ids.view(-1))


MODELS = {
    "gpt2": dict(kind="gpt", layers=12, h=768, ff=3072, heads=12, vocab=50257, positions=1024, tied=True),
    "gpt2_xl": dict(kind="gpt", layers=48, h=1600, ff=6400, heads=25, vocab=50257, positions=1024, tied=True),
    "qwen25_05b": dict(kind="llama", layers=24, h=896, ff=4864, heads=14, kv=2, vocab=151936, tied=True),
    "llama32_1b": dict(kind="llama", layers=16, h=2048, ff=8192, heads=32, kv=8, vocab=128256, tied=True),
    "llama32_3b": dict(kind="llama", layers=28, h=3072, ff=8192, heads=24, kv=8, head=128, vocab=128256, tied=True),
    "llama3_8b_6_layers": dict(kind="llama", layers=6, h=4096, ff=14336, heads=32, kv=8, vocab=128256),
    "mixtral_8x7b_2_layers": dict(kind="mixtral", layers=2, h=4096, ff=14336, heads=32, kv=8, vocab=32000, experts=8, topk=2),
    "qwen3_30b_a3b_4_layers": dict(kind="qwen3", layers=4, h=2048, ff=768, heads=32, kv=4, head=128, vocab=151936, experts=128, topk=8),
    "llama3_70b_2_layers": dict(kind="llama", layers=2, h=8192, ff=28672, heads=64, kv=8, vocab=32000),
}


def hugging_face(c):
    from transformers import LlamaConfig, LlamaForCausalLM
    if "experts" in c:
        return with_loss(hugging_face_experts(c))
    config = LlamaConfig(hidden_size=c["h"], intermediate_size=c["ff"], num_hidden_layers=c["layers"], num_attention_heads=c["heads"],
                         num_key_value_heads=c["kv"], vocab_size=c["vocab"], tie_word_embeddings=bool(c.get("tied")),
                         max_position_embeddings=16384, use_cache=False, attn_implementation="sdpa")
    return with_loss(LlamaForCausalLM(config))


def with_loss(model):
    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model
            self.layers = model.model.layers

        def forward(self, ids):
            return self.model(input_ids=ids, labels=ids).loss
    return Loss()


def hugging_face_experts(c):
    import transformers
    if c["kind"] == "mixtral":
        config = transformers.MixtralConfig(num_local_experts=c["experts"], intermediate_size=c["ff"], **shared_settings(c))
        model = transformers.MixtralForCausalLM(config)
    else:
        config = transformers.Qwen3MoeConfig(num_experts=c["experts"], moe_intermediate_size=c["ff"], head_dim=c["head"],
                                             decoder_sparse_step=1, mlp_only_layers=[], **shared_settings(c))
        model = transformers.Qwen3MoeForCausalLM(config)
    return model


def shared_settings(c):
    return dict(hidden_size=c["h"], num_hidden_layers=c["layers"], num_attention_heads=c["heads"], num_key_value_heads=c["kv"],
                num_experts_per_tok=c["topk"], vocab_size=c["vocab"], use_cache=False, attn_implementation="sdpa",
                max_position_embeddings=16384, output_router_logits=False)


def resnet():
    import torchvision

    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = torchvision.models.resnet50().to(memory_format=torch.channels_last)

        def forward(self, images):
            return F.cross_entropy(self.model(images), torch.zeros(images.shape[0], dtype=torch.long, device=images.device))
    return Loss()


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
        if name == "resnet50":
            model = resnet()
        elif case["code"] == "hugging_face":
            model = hugging_face(MODELS[name])
        else:
            model = Transformer(MODELS[name], case.get("recompute", False))
    if case["code"] == "hugging_face" and case.get("recompute"):
        model.model.gradient_checkpointing_enable()
    if case.get("experts_by"):
        model.model.set_experts_implementation(case["experts_by"])
    if case.get("bf16"):
        model = model.to(torch.bfloat16)
    if case.get("compile"):
        if name == "resnet50":
            model.model.compile()
        else:
            for layer in model.layers:
                layer.compile()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True if case.get("fused_adam") else None)
    accumulate = case.get("accumulate", 1)

    def batch(tokens):
        if name == "resnet50":
            return torch.randn(case["mb"], 3, 224, 224, device=dev).to(memory_format=torch.channels_last)
        return torch.randint(0, MODELS[name]["vocab"], (case["mb"], tokens), device=dev)

    def passes(data):
        for _ in range(accumulate):
            with torch.autocast(dev, dtype=torch.bfloat16, enabled=not case.get("bf16")):
                loss = model(data)
            loss.backward()

    def update():
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    data = batch(case.get("seq", 0))

    def step():
        passes(data)
        update()

    row = dict(case, parameters=sum(p.numel() for p in model.parameters()), tensors=len(list(model.parameters())))
    row.update(timed(step, case.get("seconds", 2.0)))
    began = time.perf_counter()
    step()
    row["launched_s"] = time.perf_counter() - began  # the whole of it where the queue of launches is not full
    torch.cuda.synchronize()
    kernels = kernels_of(step)
    row["kernels"] = sum(count for count, _ in kernels.values())
    row["device_s"] = sum(seconds for _, seconds in kernels.values())
    row["by_kernel"] = sorted(([n[:90], c, s] for n, (c, s) in kernels.items()), key=lambda k: -k[2])[:40]
    if name != "resnet50" and case.get("host"):  # launched with next to nothing for the device to do
        data = batch(64)
        case_mb, halves = case["mb"], []
        for _ in range(5):
            torch.cuda.synchronize()
            t0 = time.perf_counter()
            with torch.autocast(dev, dtype=torch.bfloat16, enabled=not case.get("bf16")):
                loss = model(data)
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


EXPERTS = [
    dict(part="experts", code="hugging_face", model="qwen3_30b_a3b_4_layers", mb=2, seq=4096, bf16=True, fused_adam=True, experts_by="grouped_mm"),
    dict(part="experts", code="hugging_face", model="qwen3_30b_a3b_4_layers", mb=2, seq=4096, bf16=True, fused_adam=True, experts_by="eager"),
    dict(part="experts", code="hugging_face", model="mixtral_8x7b_2_layers", mb=2, seq=4096, bf16=True, fused_adam=True, experts_by="grouped_mm"),
    dict(part="experts", code="hugging_face", model="mixtral_8x7b_2_layers", mb=2, seq=4096, bf16=True, fused_adam=True, experts_by="eager"),
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


# Single kernels.

def kernel_s(call, repeat=20):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeat):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e-3 / repeat


def host_call_s(call, repeat=500):
    """Launch of a call whose kernel takes less than it, by the wall."""
    for _ in range(20):
        call()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(repeat):
        call()
    took = time.perf_counter() - began
    torch.cuda.synchronize()
    return took / repeat


def calls(emit):
    x = torch.randn(64, 64, device=dev, dtype=torch.bfloat16)
    w = torch.randn(64, 64, device=dev, dtype=torch.bfloat16, requires_grad=True)
    q = torch.randn(1, 2, 64, 64, device=dev, dtype=torch.bfloat16)
    norm = nn.LayerNorm(64, device=dev, dtype=torch.bfloat16)
    linear = nn.Linear(64, 64, device=dev, dtype=torch.bfloat16)
    with torch.no_grad():
        for name, call in dict(add=lambda: x + x, matmul=lambda: x @ x, layer_norm=lambda: F.layer_norm(x, (64,)),
                               attention=lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True),
                               linear_module=lambda: linear(x)).items():
            emit(part="calls", name=name, seconds=host_call_s(call))
    for name, call in dict(add=lambda: x + w, matmul=lambda: x @ w, norm_module=lambda: norm(x), linear_module=lambda: linear(x)).items():
        emit(part="calls", name=name, recorded=True, seconds=host_call_s(call))
        many = None
        for _ in range(200):
            many = call() if many is None else many + call()
        torch.cuda.synchronize()
        began = time.perf_counter()
        many.sum().backward()
        emit(part="calls", name=name + "_backward_with_an_add", seconds=(time.perf_counter() - began) / 200)
        torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = x
        for _ in range(1000):
            y = y + x
    emit(part="calls", name="graph_of_1000_adds", launch_s=host_call_s(graph.replay, 20), device_s=kernel_s(graph.replay, 20))


def matmuls(emit):
    for m, n, k in [(2048, 2048, 2048), (8192, 2048, 2048), (8192, 8192, 2048), (8192, 2048, 8192), (8192, 4096, 4096), (8192, 14336, 4096),
                    (8192, 4096, 14336), (4096, 28672, 8192), (4096, 8192, 28672), (4096, 10240, 8192), (8192, 128256, 2048),
                    (16384, 8192, 8192), (512, 4096, 4096), (1024, 8192, 8192), (32768, 3072, 768), (32768, 768, 3072), (4096, 4864, 896)]:
        a = torch.randn(m, k, device=dev, dtype=torch.bfloat16)
        w = torch.randn(n, k, device=dev, dtype=torch.bfloat16)
        g = torch.randn(m, n, device=dev, dtype=torch.bfloat16)
        emit(part="matmul", m=m, n=n, k=k, forward_s=kernel_s(lambda: a @ w.t()), input_gradient_s=kernel_s(lambda: g @ w),
             weight_gradient_s=kernel_s(lambda: g.t() @ a))
        del a, w, g


def misaligned(emit):
    """Matmuls whose rows begin anywhere: libraries move 16 bytes at once where every row begins at a multiple of them."""
    for m, n, k in [(8192, 50304, 768), (8192, 50272, 768), (8192, 50264, 768), (8192, 50260, 768), (8192, 50258, 768), (8192, 50257, 768),
                    (8192, 32001, 4096), (8192, 32000, 4096), (8192, 4096, 1365), (8192, 4096, 1366), (8192, 4096, 1364), (8192, 4096, 1368),
                    (8191, 4096, 4096), (8192, 4097, 4096), (8192, 4100, 4096), (8192, 4104, 4096), (8192, 4096, 4096), (512, 4097, 4096), (512, 4096, 4096)]:
        for name, dtype in (("bf16", torch.bfloat16), ("fp32", torch.float32)):
            a, w, g = (torch.randn(shape, device=dev, dtype=dtype) for shape in ((m, k), (n, k), (m, n)))
            emit(part="misaligned", dtype=name, m=m, n=n, k=k, forward_s=kernel_s(lambda: a @ w.t(), 10), input_gradient_s=kernel_s(lambda: g @ w, 10),
                 weight_gradient_s=kernel_s(lambda: g.t() @ a, 10))
            del a, w, g


def attentions(emit):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    for b, s, heads, kv, size in [(4, 1024, 16, 16, 64), (4, 2048, 32, 8, 64), (4, 2048, 32, 8, 128), (1, 8192, 32, 8, 128), (1, 8192, 32, 32, 128),
                                  (2, 4096, 64, 8, 128), (1, 32768, 8, 8, 128), (1, 16384, 32, 8, 64), (32, 1024, 12, 12, 64), (1, 2048, 16, 16, 256)]:
        for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION"):
            q = torch.randn(b, heads, s, size, device=dev, dtype=torch.bfloat16, requires_grad=True)
            k, v = (torch.randn(b, kv, s, size, device=dev, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
            try:
                with sdpa_kernel(getattr(SDPBackend, backend)):
                    def forward():
                        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=kv != heads)
                    ahead = kernel_s(forward, 10)
                    out = forward()
                    g = torch.randn_like(out)
                    back = kernel_s(lambda: torch.autograd.grad(out, (q, k, v), g, retain_graph=True), 10)
                emit(part="attention", b=b, s=s, heads=heads, kv=kv, head=size, kernel=backend, forward_s=ahead, backward_s=back)
            except Exception as error:
                emit(part="attention", b=b, s=s, heads=heads, kv=kv, head=size, kernel=backend, error=str(error)[:200])


def memory_bound(emit):
    for n in (2**16, 2**18, 2**20, 2**22, 2**24, 2**26, 2**28):
        x = torch.randn(n, device=dev, dtype=torch.bfloat16)
        y = torch.randn(n, device=dev, dtype=torch.bfloat16)
        out = torch.empty_like(x)
        emit(part="memory", name="add", bytes=6 * n, seconds=kernel_s(lambda: torch.add(x, y, out=out), 50))
        emit(part="memory", name="to_fp32", bytes=6 * n, seconds=kernel_s(lambda: x.float(), 50))
    for rows, h in ((8192, 2048), (8192, 4096), (8192, 8192), (32768, 768)):
        for name, norm in (("rms_norm", nn.RMSNorm(h, device=dev, dtype=torch.bfloat16)), ("layer_norm", nn.LayerNorm(h, device=dev, dtype=torch.bfloat16))):
            x = torch.randn(rows, h, device=dev, dtype=torch.bfloat16, requires_grad=True)
            out = norm(x)
            g = torch.randn_like(out)
            emit(part="memory", name=name, rows=rows, h=h, bytes=4 * rows * h, seconds=kernel_s(lambda: norm(x)),
                 backward_s=kernel_s(lambda: torch.autograd.grad(out, (x, *norm.parameters()), g, retain_graph=True)))
    logits = torch.randn(8192, 128256, device=dev, dtype=torch.bfloat16, requires_grad=True)
    target = torch.randint(0, 128256, (8192,), device=dev)

    def loss():
        return F.cross_entropy(logits.float(), target)
    emit(part="memory", name="loss", rows=8192, h=128256, seconds=kernel_s(loss, 5),
         both_s=kernel_s(lambda: torch.autograd.grad(loss(), logits), 5))
    del logits
    for tensors, size in ((100, 10**7), (1000, 10**6), (1000, 10**4)):
        for kind in ("fused", "foreach"):
            weights = [torch.zeros(size, device=dev, requires_grad=True) for _ in range(tensors)]
            for weight in weights:
                weight.grad = torch.ones_like(weight)
            optimizer = torch.optim.AdamW(weights, **{kind: True})
            emit(part="memory", name="adamw_" + kind, tensors=tensors, elements=tensors * size, seconds=kernel_s(optimizer.step, 5),
                 host_s=host_call_s(optimizer.step, 3) if size == 10**4 else None)
            if kind == "foreach":
                emit(part="memory", name="clip_grad_norm", tensors=tensors, elements=tensors * size,
                     seconds=kernel_s(lambda: torch.nn.utils.clip_grad_norm_(weights, 1.0), 5))
            del weights, optimizer
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=600, help="no case begins after so long")
    parser.add_argument("--only", action="append", help="one of calls, matmuls, misaligned, attentions, memory_bound, experts, steps; may be repeated")
    chosen = parser.parse_args()
    began = time.perf_counter()
    with open(chosen.out, "w") as out:
        def emit(**row):
            out.write(json.dumps(row) + "\n")
            out.flush()
        emit(part="machine", gpu=torch.cuda.get_device_name(), torch=torch.__version__, cuda=torch.version.cuda, cores=os.cpu_count(),
             host=next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?"),
             power_limit_w=pynvml.nvmlDeviceGetEnforcedPowerLimit(gpu) / 1000 if pynvml else None)
        for part in (calls, matmuls, misaligned, attentions, memory_bound):
            if not chosen.only or part.__name__ in chosen.only:
                try:
                    part(emit)
                except Exception:
                    emit(part="error", of=part.__name__, error=traceback.format_exc()[-600:])
                torch.cuda.empty_cache()
                print(f"{part.__name__}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        for case in EXPERTS + CASES:
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
