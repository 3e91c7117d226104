"""Single kernels and calls of one GPU, timed beside the steps of measure_steps.py: each part emits rows of JSON."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from expert_layers import combine, route, sort_by_expert

dev = "cuda"


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


# What a device does for its experts: rows of all of them, tokens, hidden, width, experts, choices of a token.
EXPERT_SHAPES = [(8192, 2048, 768, 128, 8), (8192, 2048, 1024, 64, 8), (8192, 4096, 14336, 8, 2), (8192, 2880, 2880, 32, 4),
                 (4096, 7168, 2048, 32, 8), (1024, 7168, 2048, 32, 8), (8192, 2048, 768, 16, 1), (8192, 2048, 768, 16, 8)]


def both_s(call, inputs, repeat=10):
    """Forward and backward seconds of a differentiable call."""
    ahead = kernel_s(call, repeat)
    out = call()
    g = torch.randn_like(out)
    return ahead, kernel_s(lambda: torch.autograd.grad(out, inputs, g, retain_graph=True), repeat)


def loads(rows, experts, skewed):
    """Rows of each expert: even, or as the quantiles of a density x^-1.2 between 1 and 0.8 rows."""
    if not skewed:
        return [rows // experts + (i < rows % experts) for i in range(experts)]
    most = 0.8 * rows
    share = [(1 + (i + 0.5) / experts * (most**-0.2 - 1)) ** -5 for i in range(experts)]
    whole = [max(1, int(rows * s / sum(share))) for s in share]
    whole[-1] += rows - sum(whole)
    return whole


def one_by_one(calls):
    for a, b, out in calls:
        torch.mm(a, b, out=out)


def on_four_streams(calls):
    """One matmul per expert on four streams in turn, as Transformer Engine's grouped linear layer."""
    here, streams = torch.cuda.current_stream(), [torch.cuda.Stream() for _ in range(4)]
    for stream in streams:
        stream.wait_stream(here)
    for i, (a, b, out) in enumerate(calls):
        with torch.cuda.stream(streams[i % 4]):
            torch.mm(a, b, out=out)
    for stream in streams:
        here.wait_stream(stream)


def replayed_s(run, calls):
    """Seconds of the kernels alone: launched as a graph."""
    run(calls)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run(calls)
    return kernel_s(graph.replay, 5)


def expert_matmuls(emit):
    """What the experts of a device take in one kernel, in one for each, and what one matmul of as many rows takes."""
    for tokens, h, f, experts, topk in EXPERT_SHAPES:
        rows = tokens * topk
        w, back, x, y = (torch.randn(*size, device=dev, dtype=torch.bfloat16) for size in ((experts, h, f), (experts, f, h), (rows, h), (rows, f)))
        shape = dict(part="expert_matmul", tokens=tokens, hidden=h, width=f, experts=experts, topk=topk)
        emit(**shape, by="dense", up_s=kernel_s(lambda: x @ w[0], 10), down_s=kernel_s(lambda: y @ back[0], 10),
             input_gradient_s=kernel_s(lambda: y @ w[0].t(), 10), weight_gradient_s=kernel_s(lambda: x.t() @ y, 10))
        for skewed in (False, True):
            sizes = loads(rows, experts, skewed)
            ends = torch.tensor(sizes, device=dev).cumsum(0).to(torch.int32)
            emit(**shape, by="grouped", skewed=skewed, largest=max(sizes),
                 up_s=kernel_s(lambda: torch._grouped_mm(x, w, offs=ends), 10), down_s=kernel_s(lambda: torch._grouped_mm(y, back, offs=ends), 10),
                 input_gradient_s=kernel_s(lambda: torch._grouped_mm(y, w.transpose(1, 2), offs=ends), 10),
                 weight_gradient_s=kernel_s(lambda: torch._grouped_mm(x.t(), y, offs=ends), 10))
            xs, ys, outs, others = (t.split(sizes) for t in (x, y, torch.empty_like(y), torch.empty_like(x)))
            gradients = torch.empty_like(w)
            up, down = list(zip(xs, w, outs)), list(zip(ys, back, others))
            input_gradient = [(a, b.t(), out) for a, b, out in zip(ys, w, others)]
            weight_gradient = [(a.t(), b, out) for a, b, out in zip(xs, ys, gradients)]
            for by, run in (("loop", one_by_one), ("four_streams", on_four_streams)):
                emit(**shape, by=by, skewed=skewed, launch_s=host_call_s(lambda: run(up), 3) / experts, up_s=replayed_s(run, up),
                     down_s=replayed_s(run, down), input_gradient_s=replayed_s(run, input_gradient), weight_gradient_s=replayed_s(run, weight_gradient))
            del xs, ys, outs, others, gradients, up, down, input_gradient, weight_gradient
        del w, back, x, y


def eight_bit_experts(emit):
    """Grouped matmuls of 8 bits, a scale for each row, and one matmul of as many rows."""
    kind = torch.float8_e4m3fn
    for tokens, h, f, experts, topk in EXPERT_SHAPES:
        rows = tokens * topk
        x = torch.randn(rows, h, device=dev, dtype=torch.bfloat16)
        w = torch.randn(experts, f, h, device=dev, dtype=torch.bfloat16).to(kind)
        xq, ones = x.to(kind), torch.ones(rows, device=dev)
        ends = torch.tensor(loads(rows, experts, False), device=dev).cumsum(0).to(torch.int32)
        columns = torch.ones(experts, f, device=dev)
        emit(part="eight_bit_experts", tokens=tokens, hidden=h, width=f, experts=experts, topk=topk,
             up_s=kernel_s(lambda: torch._scaled_grouped_mm(xq, w.transpose(1, 2), ones, columns, offs=ends, out_dtype=torch.bfloat16), 10),
             dense_up_s=kernel_s(lambda: torch._scaled_mm(xq, w[0].t(), ones[:, None], columns[0][None, :], out_dtype=torch.bfloat16), 10),
             cast_s=kernel_s(lambda: x.to(kind), 10))
        del x, w, xq


def expert_pieces(emit):
    """What stands around the grouped matmuls."""
    for tokens, h, f, experts, topk in EXPERT_SHAPES[:6]:
        shape = dict(part="expert_piece", tokens=tokens, hidden=h, width=f, experts=experts, topk=topk)
        x, gate, up, rows = (torch.randn(*size, device=dev, dtype=torch.bfloat16, requires_grad=True)
                             for size in ((tokens, h), (tokens * topk, f), (tokens * topk, f), (tokens * topk, h)))
        router = torch.randn(experts, h, device=dev, dtype=torch.bfloat16, requires_grad=True)
        weights, chosen = (t.detach() for t in route(x @ router.t(), topk))
        order, token, ends = sort_by_expert(chosen, experts)
        weights.requires_grad_()
        back = order.argsort()

        def combine_by_sum():
            """Rows fetched token by token: nothing is added in memory."""
            return (rows[back].view(tokens, topk, h) * weights.unsqueeze(-1).to(rows.dtype)).sum(dim=1)
        plain = dict(router=(lambda: route(x @ router.t(), topk)[0], (x, router)), permute=(lambda: x.index_select(0, token), (x,)),
                     permute_by_index=(lambda: x[token], (x,)), activation=(lambda: F.silu(gate) * up, (gate, up)),
                     combine=(lambda: combine(rows, weights, order, token, tokens), (rows, weights)), combine_by_sum=(combine_by_sum, (rows, weights)))
        for name, (call, inputs) in plain.items():
            ahead, behind = both_s(call, inputs)
            emit(**shape, name=name, forward_s=ahead, backward_s=behind)
        emit(**shape, name="sort", forward_s=kernel_s(lambda: sort_by_expert(chosen, experts)))
        for name in ("activation", "combine", "combine_by_sum"):
            call, inputs = plain[name]
            ahead, behind = both_s(torch.compile(call), inputs)
            emit(**shape, name=name, compiled=True, forward_s=ahead, backward_s=behind)
        torch._dynamo.reset()


PARTS = (calls, matmuls, misaligned, attentions, memory_bound, expert_matmuls, eight_bit_experts, expert_pieces)
