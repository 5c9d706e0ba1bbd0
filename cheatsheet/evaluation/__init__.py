"""Streams of questions run under several memory modes, scored and compared.

`task` reads questions, `scorers` judge answers, `spec` describes a run, `runner` runs and resumes it, `metrics` and
`report` say what came of it. The memory is whatever keeps the promises of `protocol`.
"""
