"""Where the parameters come from: histories, fit and back-test. PURE, outside the request path."""
