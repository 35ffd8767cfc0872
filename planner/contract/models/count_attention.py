"""Attention of a model from its config: parameters of a layer, its width, what it caches. PURE."""

from __future__ import annotations

from planner.contract.models.config_fields import ConfigFields
from planner.contract.models.families import (
    BIASED_EXPERTS,
    BIASED_FAMILIES,
    FURTHER_MATRICES,
    NORMED_HEADS,
    NORMED_PROJECTIONS,
)


def _head_size(fields: ConfigFields) -> int:
    return fields.get("head_size") or fields.need("hidden_size") // fields.need("heads")


def _key_value_heads(fields: ConfigFields) -> int:
    """Heads with keys and values of their own; one where queries share them all."""
    is_new = fields.flag("new_decoder_architecture")
    if fields.flag("multi_query") and not is_new:
        return 1
    if fields.is_latest and fields.flag("multi_query_attention") is False:
        return fields.need("heads")
    return fields.get("key_value_heads") or fields.need("heads")


def attention_parameters(fields: ConfigFields) -> int:
    """Parameters of one layer's attention; multi-head latent attention by its low-rank parts."""
    hidden, heads = fields.need("hidden_size"), fields.need("heads")
    rank = fields.get("key_value_rank")
    if rank:
        plain, rotary = fields.need("plain_head"), fields.need("rotary_head")
        value = _value_head(fields)
        query_rank = fields.get("query_rank")
        wide = heads * (plain + rotary)
        queries = hidden * query_rank + query_rank * wide if query_rank else hidden * wide
        keys = hidden * (rank + rotary) + rank * heads * (plain + value)
        return queries + keys + heads * value * hidden
    head, kv = _head_size(fields), _key_value_heads(fields)
    weights = hidden * head * (2 * heads + 2 * kv)
    weights += _further_matrices(fields) * hidden * head * heads
    has_bias = fields.flag("attention_bias") or fields.family in BIASED_FAMILIES
    biases = head * (heads + 2 * kv) if has_bias else 0
    if fields.family in BIASED_EXPERTS:
        biases += hidden + heads
    if fields.family in NORMED_HEADS:
        return weights + biases + 2 * head
    return weights + biases + (head * (heads + kv) if fields.family in NORMED_PROJECTIONS else 0)


def attention_width(fields: ConfigFields) -> int:
    """Width over which scores and their sums of values are formed, all heads together: half of the
    work of attention goes by the width of queries and keys, half by that of values."""
    heads = fields.need("heads")
    if not fields.get("key_value_rank"):
        return heads * _head_size(fields)
    queries = fields.need("plain_head") + fields.need("rotary_head")
    return heads * (queries + _value_head(fields)) // 2


def _value_head(fields: ConfigFields) -> int:
    """Width of a head's values under latent attention; MiniCPM3 divides its hidden size."""
    if fields.is_latest and fields.family == "minicpm3" and not fields.get("value_head"):
        return _head_size(fields)
    return fields.need("value_head")


def _further_matrices(fields: ConfigFields) -> int:
    """Matrices beside queries, keys, values and output, which attention of DeBERTa has where it
    does not share those of positions (its code, 2021)."""
    if fields.family == "xlnet":
        return FURTHER_MATRICES["xlnet"]
    if not fields.is_latest:
        return 0
    if fields.family.startswith("deberta") and fields.flag("share_att_key") is not True:
        kinds = fields.config.get("pos_att_type") or ""
        return sum(kind in kinds for kind in ("c2p", "p2c"))
    return FURTHER_MATRICES.get(fields.family, 0)


def cached_values(fields: ConfigFields) -> int:
    """Values that a token keeps in one layer: keys and values of their heads, or the compressed
    ones of latent attention."""
    rank = fields.get("key_value_rank")
    if rank:
        return rank + (fields.get("rotary_head") or 0)
    return 2 * _key_value_heads(fields) * _head_size(fields)
