"""The playground: a local web page that draws, composes and plays tasks (`taskalgebra play`).

A shell over the public API.  `schema` describes requests and answers, and `refusals` says what is
wrong with a request.  `reading` reads a task, `solving` plans a drawn world, `expressions` composes
agents for Boolean tasks and `over_time` those for formulas over time; every answer includes the
Python program that does the same.  `presets` are the worlds to start from, with
a video game that shipped networks play.  `app` is the server, `door` checks requests before it, and
`serve` starts it.  The page itself is in `static`, plain files without a build step.
"""
