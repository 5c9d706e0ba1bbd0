"""The report of runs: a page of HTML that needs nothing else, Markdown for a README, or CSV for whatever comes next.

`content` takes runs together and reads their memories, `accounts` says in sentences what came of them, `tables` and
`charts` show it; `html`, `markdown` and `spreadsheet` write it down.
"""
