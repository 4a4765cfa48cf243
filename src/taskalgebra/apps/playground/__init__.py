"""The playground: a local web page that draws, composes and plays tasks (`taskalgebra play`).

A shell over the public API.  `schema` describes requests, `answers` what comes back, and `refusals`
says what is wrong with a request.  Worlds are drawings (`drawn`; `slips` bounds the work) or tables
(`tables`, described to the page by `scene` and `layout`); a `subject` is either one, planned.
`reading` reads a task, `expressions` composes agents for Boolean tasks and `over_time` those for
formulas over time.  `solving` puts answers together, with what an agent loses (`losses`), the nodes
of a formula (`nodes`), what plain values would do (`others`), and the Python program that does the
same.

`presets` are the worlds to start from, with a video game that shipped networks play.  `app` is the
server, `door` checks requests before it, `serve` starts it as a command and `inside` in a thread of
a program, for a user's own worlds (`opened`).  The page itself is in `static`, plain files without
a build step; `export` writes it as one file that needs no server.
"""
