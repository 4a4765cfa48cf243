"""The playground: a local web page that draws, composes and plays tasks (`taskalgebra play`).

`schema` is what goes in and out; `refusals` and `checks` say what is wrong with it.  `worlds` plans
what was drawn, `solving` composes, `boxman` plays the video game with the shipped networks, and
`python_lines` writes the same as a program.  `app` is the server, `door` stands in front of it, and
`serve` starts it.  The page itself is in `static`, plain files without a build step.
"""
