"""The API's views: parse, call a service, render."""
