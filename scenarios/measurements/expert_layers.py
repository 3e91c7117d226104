"""A mixture of experts as people write it in PyTorch: router, tokens sorted by expert, one grouped kernel or a loop, weighted sums."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def route(scores, topk):
    """Weights and experts of each token, in 32 bits."""
    weights, experts = scores.float().softmax(dim=-1).topk(topk)
    return weights / weights.sum(dim=-1, keepdim=True), experts


def sort_by_expert(experts, number):
    """The order of all pairs of token and expert by expert, the token of each, and where each expert's rows end; the host reads nothing."""
    order = experts.view(-1).argsort(stable=True)
    ends = torch.histc(experts.float(), bins=number, min=0, max=number).cumsum(0).to(torch.int32)
    return order, order // experts.shape[-1], ends


def combine(rows, weights, order, token, tokens):
    """Sums of each token's experts."""
    weighted = rows * weights.view(-1)[order].unsqueeze(-1).to(rows.dtype)
    return rows.new_zeros(tokens, rows.shape[-1]).index_add(0, token, weighted)


class Expert(nn.Module):
    def __init__(self, hidden, width):
        super().__init__()
        self.gate, self.up = nn.Linear(hidden, width, bias=False), nn.Linear(hidden, width, bias=False)
        self.down = nn.Linear(width, hidden, bias=False)

    def forward(self, rows):
        return self.down(F.silu(self.gate(rows)) * self.up(rows))


class MoeLayer(nn.Module):
    """`by`: "grouped", one kernel for all experts; "modules", each a module of its own, called one by one; "loop", likewise, with
    the weights of all in one tensor, whose gradient autograd then adds up once for each expert."""

    def __init__(self, hidden, width, experts, topk, by):
        super().__init__()
        self.experts, self.topk, self.by = experts, topk, by
        self.router = nn.Linear(hidden, experts, bias=False)
        if by == "modules":
            self.each = nn.ModuleList(Expert(hidden, width) for _ in range(experts))
            return
        self.gate = nn.Parameter(torch.randn(experts, hidden, width) * hidden**-0.5)
        self.up = nn.Parameter(torch.randn(experts, hidden, width) * hidden**-0.5)
        self.down = nn.Parameter(torch.randn(experts, width, hidden) * width**-0.5)

    def forward(self, x):
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        weights, chosen = route(self.router(x), self.topk)
        order, token, ends = sort_by_expert(chosen, self.experts)
        rows = x.index_select(0, token)
        rows = self.grouped(rows, ends) if self.by == "grouped" else self.looped(rows, ends)
        return combine(rows, weights, order, token, x.shape[0]).view(shape)

    def grouped(self, rows, ends):
        gate, up, down = (w.to(rows.dtype) for w in (self.gate, self.up, self.down))
        return torch._grouped_mm(F.silu(torch._grouped_mm(rows, gate, offs=ends)) * torch._grouped_mm(rows, up, offs=ends), down, offs=ends)

    def looped(self, rows, ends):
        ends = ends.tolist()  # the host waits here
        parts = rows.split([end - begin for begin, end in zip([0] + ends, ends)])
        if self.by == "modules":
            return torch.cat([expert(part) for expert, part in zip(self.each, parts)])
        return torch.cat([(F.silu(part @ self.gate[i].to(part.dtype)) * (part @ self.up[i].to(part.dtype))) @ self.down[i].to(part.dtype)
                          for i, part in enumerate(parts)])
