"""Programs as text: what is common here, one folder for each language, run-time sources in its
`runtime`."""
