"""What holds for every operation, at the head of the OpenAPI document: a reader may know nothing
else of this API."""

from __future__ import annotations

from pricing.api.pages import CursorPages

CONVENTIONS = f"""What deep-learning accelerators should cost: rented, owned or mixed.

- **Callers** send `Authorization: Bearer gcp_…`, a token of a team, or have a session. Prices, \
estimates and comparisons need neither unless the operator closed them.
- **Amounts** are decimal text, such as `"1524336.00"`, in the `currency` beside them, or in US \
dollars where the name has `usd` in it; planning values of accelerators and estimates are numbers. \
What nobody knows is null, never 0. Requests take amounts as numbers or text.
- **Other values**: months such as `2027-01`, days such as `2027-01-31`, times in UTC; shares and \
rates as fractions (0.05 is 5 %).
- **Refusals** are problem details (RFC 9457). `errors` names each field by its path, such as \
`workload.hours_per_month` or `items.0.key`; the path is empty for the body as a whole. Unknown \
fields and query parameters are refused.
- **Pages**: `next` is the address of the next one, null on the last. A page has \
{CursorPages.page_size} rows, or `page_size`, which is at most {CursorPages.max_page_size}. Lists \
without these parameters come whole.
- **Versions**: what can be changed has an `ETag`. With it in `If-Match` an edit of something that \
was changed since fails (412); with it in `If-None-Match` what did not change is not sent again \
(304).
- **Repeats**: a creation with an `Idempotency-Key` is done once, however often it is sent within \
24 hours.
- **Jobs**: 202 names a job in `Location`. Ask for it again after `Retry-After` until its `state` \
is `succeeded`, `failed` or `cancelled`; `result` is what the operation would have answered at \
once.
- **Limits**: 429 says in `Retry-After` when to come back.
"""
