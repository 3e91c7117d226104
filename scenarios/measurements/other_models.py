"""Models that measure_steps.py trains and that are no decoders of text alone: each a module whose forward pass ends in its loss,
with `batch`, random samples for it, and `blocks`, what is compiled one by one."""
import torch
import torch.nn as nn
import torch.nn.functional as F

dev = "cuda"


class Vision(nn.Module):
    """Classes of images, by a model of torchvision or timm."""

    def __init__(self, model, blocks=None):
        super().__init__()
        self.model, self.blocks = model.to(memory_format=torch.channels_last), blocks or [model]

    def batch(self, samples, tokens):
        return (torch.randn(samples, 3, 224, 224, device=dev).to(memory_format=torch.channels_last),)

    def forward(self, images):
        return F.cross_entropy(self.model(images).float(), torch.zeros(images.shape[0], dtype=torch.long, device=dev))


def resnet50(case):
    import torchvision
    return Vision(torchvision.models.resnet50())


def vision_transformer(name):
    def made(case):
        import timm
        model = timm.create_model(name)
        return Vision(model, list(model.blocks))
    return made


class Bert(nn.Module):
    def __init__(self, case):
        super().__init__()
        from transformers import BertConfig, BertForPreTraining
        dropout = case.get("dropout", 0.0)
        self.model = BertForPreTraining(BertConfig(
            hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096, hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout, attn_implementation="sdpa"))
        self.blocks = list(self.model.bert.encoder.layer)

    def batch(self, samples, tokens):
        return torch.randint(0, 30522, (samples, tokens), device=dev), torch.zeros(samples, dtype=torch.long, device=dev)

    def forward(self, ids, follows):
        return self.model(input_ids=ids, labels=ids, next_sentence_label=follows).loss


class T5(nn.Module):
    """T5 large as released: ReLU, 512 tokens in and 114 out. Its biases of positions are added to scores that lie in memory."""

    def __init__(self, case):
        super().__init__()
        from transformers import T5Config, T5ForConditionalGeneration
        self.model = T5ForConditionalGeneration(T5Config(vocab_size=32128, d_model=1024, d_kv=64, d_ff=4096, num_layers=24, num_heads=16,
                                                         dropout_rate=0.0, use_cache=False, pad_token_id=0, decoder_start_token_id=0))
        self.blocks = [*self.model.encoder.block, *self.model.decoder.block]

    def batch(self, samples, tokens):
        return torch.randint(0, 32128, (samples, tokens), device=dev), torch.randint(0, 32128, (samples, 114), device=dev)

    def forward(self, ids, answers):
        return self.model(input_ids=ids, labels=answers).loss


class Whisper(nn.Module):
    """30 s of sound in, 448 tokens out."""

    def __init__(self, case):
        super().__init__()
        from transformers import WhisperConfig, WhisperForConditionalGeneration
        layers, width, heads, self.bands, self.vocabulary = {
            "whisper_small": (12, 768, 12, 80, 51865), "whisper_large_v3": (32, 1280, 20, 128, 51866)}[case["model"]]
        self.model = WhisperForConditionalGeneration(WhisperConfig(
            vocab_size=self.vocabulary, d_model=width, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=heads,
            decoder_attention_heads=heads, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, num_mel_bins=self.bands, use_cache=False,
            dropout=0.0, attn_implementation="sdpa"))
        self.blocks = [*self.model.model.encoder.layers, *self.model.model.decoder.layers]

    def batch(self, samples, tokens):
        return torch.randn(samples, self.bands, 3000, device=dev), torch.randint(0, 50000, (samples, 448), device=dev)

    def forward(self, sound, words):
        return self.model(input_features=sound, labels=words).loss


class DecoderOfText(nn.Module):
    """Hugging Face's models of text with norms of queries and keys, with windows, or with frozen weights and adapters."""

    def __init__(self, case):
        super().__init__()
        import transformers
        shared = dict(use_cache=False, attn_implementation="sdpa", max_position_embeddings=32768)
        if case["model"] == "gemma3_1b":
            self.vocabulary = 262144
            self.model = transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(
                vocab_size=self.vocabulary, hidden_size=1152, intermediate_size=6912, num_hidden_layers=26, num_attention_heads=4,
                num_key_value_heads=1, head_dim=256, sliding_window=512, **shared))
        elif case["model"] == "qwen3_0_6b":
            self.vocabulary = 151936
            self.model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(
                vocab_size=self.vocabulary, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
                num_key_value_heads=8, head_dim=128, tie_word_embeddings=True, **shared))
        else:
            self.vocabulary = 128256
            self.model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
                vocab_size=self.vocabulary, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                num_key_value_heads=8, **shared))
        self.blocks = list(self.model.model.layers)
        if case.get("recompute"):
            self.model.gradient_checkpointing_enable(dict(use_reentrant=False))
        if "adapters" in case:
            import peft
            self.model = peft.get_peft_model(self.model.to(torch.bfloat16),
                                             peft.LoraConfig(r=case["adapters"], target_modules=case["adapted"], lora_dropout=0.0))
            if case.get("recompute"):
                self.model.enable_input_require_grads()

    def batch(self, samples, tokens):
        return (torch.randint(0, self.vocabulary, (samples, tokens), device=dev),)

    def forward(self, ids):
        return self.model(input_ids=ids, labels=ids).loss


class DitBlock(nn.Module):
    def __init__(self, h, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = (nn.LayerNorm(h, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.qkv, self.o = nn.Linear(h, 3 * h), nn.Linear(h, h)
        self.up, self.down = nn.Linear(h, 4 * h), nn.Linear(4 * h, h)
        self.modulation = nn.Linear(h, 6 * h)

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(F.silu(condition)).unsqueeze(1).chunk(6, dim=2)
        b, s, h = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x) * (1 + scale1) + shift1).chunk(3, dim=2))
        x = x + gate1 * self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, h))
        return x + gate2 * self.down(F.gelu(self.up(self.norm2(x) * (1 + scale2) + shift2), approximate="tanh"))


class Dit(nn.Module):
    """DiT-XL/2 of arXiv 2212.09748 on latents of 32 x 32 x 4, with 256 tokens each."""

    def __init__(self, case):
        super().__init__()
        h = 1152
        self.patches = nn.Conv2d(4, h, 2, stride=2)
        self.time = nn.Sequential(nn.Linear(256, h), nn.SiLU(), nn.Linear(h, h))
        self.classes = nn.Embedding(1001, h)
        self.register_buffer("positions", torch.randn(1, 256, h))
        self.blocks = nn.ModuleList(DitBlock(h, 16) for _ in range(28))
        self.norm, self.modulation = nn.LayerNorm(h, elementwise_affine=False, eps=1e-6), nn.Linear(h, 2 * h)
        self.head = nn.Linear(h, 32)

    def batch(self, samples, tokens):
        return (torch.randn(samples, 4, 32, 32, device=dev), torch.randn(samples, 256, device=dev),
                torch.zeros(samples, dtype=torch.long, device=dev), torch.randn(samples, 256, 32, device=dev))

    def forward(self, latents, time, label, noise):
        condition = self.time(time) + self.classes(label)
        x = self.patches(latents).flatten(2).transpose(1, 2) + self.positions
        for block in self.blocks:
            x = block(x, condition)
        shift, scale = self.modulation(F.silu(condition)).unsqueeze(1).chunk(2, dim=2)
        return F.mse_loss(self.head(self.norm(x) * (1 + scale) + shift).float(), noise)


class Residual(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(32, before), nn.GroupNorm(32, after)
        self.conv1, self.conv2 = nn.Conv2d(before, after, 3, padding=1), nn.Conv2d(after, after, 3, padding=1)
        self.level = nn.Linear(1280, after)
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x, level):
        y = self.conv1(F.silu(self.norm1(x))) + self.level(F.silu(level))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class Attention(nn.Module):
    def __init__(self, h, of):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(h, h, bias=False), nn.Linear(of, h, bias=False), nn.Linear(of, h, bias=False), nn.Linear(h, h)

    def forward(self, x, of):
        q, k, v = (t.view(t.shape[0], t.shape[1], -1, 64).transpose(1, 2) for t in (self.q(x), self.k(of), self.v(of)))
        return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape))


class CrossBlock(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(h), nn.LayerNorm(h), nn.LayerNorm(h)
        self.own, self.text = Attention(h, h), Attention(h, 2048)
        self.up, self.down = nn.Linear(h, 8 * h), nn.Linear(4 * h, h)

    def forward(self, x, text):
        y = self.norm1(x)
        x = x + self.own(y, y)
        x = x + self.text(self.norm2(x), text)
        y, gate = self.up(self.norm3(x)).chunk(2, dim=-1)
        return x + self.down(y * F.gelu(gate))


class Spatial(nn.Module):
    def __init__(self, h, depth):
        super().__init__()
        self.norm, self.into, self.out = nn.GroupNorm(32, h), nn.Linear(h, h), nn.Linear(h, h)
        self.blocks = nn.ModuleList(CrossBlock(h) for _ in range(depth))

    def forward(self, x, text):
        b, c, height, width = x.shape
        y = self.into(self.norm(x).permute(0, 2, 3, 1).reshape(b, height * width, c))
        for block in self.blocks:
            y = block(y, text)
        return x + self.out(y).view(b, height, width, c).permute(0, 3, 1, 2)


class Sdxl(nn.Module):
    """The UNet of SDXL (arXiv 2307.01952) on latents of 128 x 128 x 4 and 77 tokens of text."""

    def __init__(self, case):
        super().__init__()
        channels, depths = (320, 640, 1280), (0, 2, 10)
        self.time = nn.Sequential(nn.Linear(320, 1280), nn.SiLU(), nn.Linear(1280, 1280))
        self.size = nn.Sequential(nn.Linear(2816, 1280), nn.SiLU(), nn.Linear(1280, 1280))
        self.first = nn.Conv2d(4, 320, 3, padding=1)
        self.down, self.up, kept, now = nn.ModuleList(), nn.ModuleList(), [320], 320
        for level, (c, depth) in enumerate(zip(channels, depths)):
            for _ in range(2):
                self.down.append(nn.ModuleList([Residual(now, c)] + ([Spatial(c, depth)] if depth else [])))
                kept.append(c)
                now = c
            if level < 2:
                self.down.append(nn.ModuleList([nn.Conv2d(c, c, 3, stride=2, padding=1)]))
                kept.append(c)
        self.middle = nn.ModuleList([Residual(now, now), Spatial(now, 10), Residual(now, now)])
        for level in (2, 1, 0):
            c, depth = channels[level], depths[level]
            for _ in range(3):
                self.up.append(nn.ModuleList([Residual(now + kept.pop(), c)] + ([Spatial(c, depth)] if depth else [])))
                now = c
            if level:
                self.up.append(nn.ModuleList([nn.Conv2d(c, c, 3, padding=1)]))
        self.norm, self.last = nn.GroupNorm(32, 320), nn.Conv2d(320, 4, 3, padding=1)
        self.blocks = [m for m in self.modules() if isinstance(m, (CrossBlock, Residual))]
        self.to(memory_format=torch.channels_last)

    def batch(self, samples, tokens):
        image = torch.randn(samples, 4, 128, 128, device=dev).to(memory_format=torch.channels_last)
        return (image, torch.randn(samples, 320, device=dev), torch.randn(samples, 2816, device=dev),
                torch.randn(samples, 77, 2048, device=dev), torch.randn_like(image))

    def forward(self, image, time, size, text, noise):
        level = self.time(time) + self.size(size)
        x = self.first(image)
        kept = [x]
        for part in self.down:
            x = part[0](x, level) if isinstance(part[0], Residual) else part[0](x)
            x = part[1](x, text) if len(part) > 1 else x
            kept.append(x)
        x = self.middle[2](self.middle[1](self.middle[0](x, level), text), level)
        for part in self.up:
            if not isinstance(part[0], Residual):
                x = part[0](F.interpolate(x, scale_factor=2.0, mode="nearest"))
                continue
            x = part[0](torch.cat((x, kept.pop()), dim=1), level)
            x = part[1](x, text) if len(part) > 1 else x
        return F.mse_loss(self.last(F.silu(self.norm(x))).float(), noise)


MADE = {
    "resnet50": resnet50, "vit_l_16": vision_transformer("vit_large_patch16_224"), "vit_h_14": vision_transformer("vit_huge_patch14_224"),
    "bert_large": Bert, "t5_large": T5, "whisper_small": Whisper, "whisper_large_v3": Whisper, "dit_xl_2": Dit, "sdxl_unet": Sdxl,
    "gemma3_1b": DecoderOfText, "qwen3_0_6b": DecoderOfText, "llama3_8b": DecoderOfText}
