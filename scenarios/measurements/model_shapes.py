"""Shapes of the models that measure_steps.py trains: published ones, of the large ones as many layers as one GPU holds."""

MODELS = {
    "gpt2": dict(kind="gpt", layers=12, h=768, ff=3072, heads=12, vocab=50257, positions=1024, tied=True),
    "gpt2_xl": dict(kind="gpt", layers=48, h=1600, ff=6400, heads=25, vocab=50257, positions=1024, tied=True),
    "qwen25_05b": dict(kind="llama", layers=24, h=896, ff=4864, heads=14, kv=2, vocab=151936, tied=True),
    "llama32_1b": dict(kind="llama", layers=16, h=2048, ff=8192, heads=32, kv=8, vocab=128256, tied=True),
    "llama32_3b": dict(kind="llama", layers=28, h=3072, ff=8192, heads=24, kv=8, head=128, vocab=128256, tied=True),
    "llama3_8b_6_layers": dict(kind="llama", layers=6, h=4096, ff=14336, heads=32, kv=8, vocab=128256),
    "llama3_70b_2_layers": dict(kind="llama", layers=2, h=8192, ff=28672, heads=64, kv=8, vocab=32000),
    "llama2_7b_4_layers": dict(kind="llama", layers=4, h=4096, ff=11008, heads=32, kv=32, vocab=32000),
    # of experts, `ff` is the width of each
    "mixtral_8x7b_2_layers": dict(kind="mixtral", layers=2, h=4096, ff=14336, heads=32, kv=8, vocab=32000, experts=8, topk=2),
    "qwen3_30b_a3b_4_layers": dict(kind="qwen3", layers=4, h=2048, ff=768, heads=32, kv=4, head=128, vocab=151936, experts=128, topk=8),
    "olmoe_8_layers": dict(kind="olmoe", layers=8, h=2048, ff=1024, heads=16, kv=16, vocab=50304, experts=64, topk=8),
    "gpt_oss_20b_4_layers": dict(kind="gpt_oss", layers=4, h=2880, ff=2880, heads=64, kv=8, head=64, vocab=32000, experts=32, topk=4),
    # what one of eight expert-parallel ranks of DeepSeek-V3 holds, with plain attention
    "deepseek_v3_32_experts_2_layers": dict(kind="deepseek", layers=2, h=7168, ff=2048, heads=64, kv=8, head=128, vocab=32000, experts=32, topk=8),
}
