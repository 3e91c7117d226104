"""Models that measure_steps.py trains, as people write them: each layer a module of its own."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from expert_layers import MoeLayer


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
        self.experts = MoeLayer(c["h"], c["ff"], c["experts"], c["topk"], c["experts_by"]) if "experts" in c else None
        if not self.experts:
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
        return x + (self.experts(y) if self.experts else self.down(F.silu(self.gate(y)) * self.up(y)))


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


def quantised(x, kind):
    """x in 8 bits with one scale, and what undoes it."""
    scale = torch.finfo(kind).max / x.abs().amax().float().clamp(min=1e-12)
    return (x.float() * scale).to(kind), scale.reciprocal()


class EightBitMatmul(torch.autograd.Function):
    """y = x w^T, forward and backward with matmuls of 8 bits, scaled by tensor in each pass."""

    @staticmethod
    def forward(ctx, x, w):
        rows = x.reshape(-1, x.shape[-1])
        ctx.save_for_backward(rows, w)
        (xq, sx), (wq, sw) = quantised(rows, torch.float8_e4m3fn), quantised(w, torch.float8_e4m3fn)
        return torch._scaled_mm(xq, wq.t(), scale_a=sx, scale_b=sw, out_dtype=x.dtype, use_fast_accum=True).view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx, gradient):
        rows, w = ctx.saved_tensors
        g = gradient.reshape(-1, gradient.shape[-1])
        (gq, sg), (xq, sx), (wq, sw) = quantised(g, torch.float8_e5m2), quantised(rows, torch.float8_e4m3fn), quantised(w, torch.float8_e4m3fn)
        of_input = torch._scaled_mm(gq, wq.t().contiguous().t(), scale_a=sg, scale_b=sw, out_dtype=g.dtype)
        of_weight = torch._scaled_mm(gq.t().contiguous(), xq.t().contiguous().t(), scale_a=sg, scale_b=sx, out_dtype=g.dtype)
        return of_input.view(*gradient.shape[:-1], -1), of_weight


class EightBitLinear(nn.Linear):
    def forward(self, x):
        return EightBitMatmul.apply(x, self.weight.to(x.dtype))


def in_eight_bits(layer):
    """All linear layers of a layer."""
    for module in layer.modules():
        if type(module) is nn.Linear:
            module.__class__ = EightBitLinear


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
        angle = torch.outer(torch.arange(32768).float(), 1 / 10000 ** (torch.arange(0, size, 2).float() / size))
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
