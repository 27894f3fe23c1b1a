"""View: what a person looks at. In: derived models and runs. Out: pages that need nothing but a
browser."""
