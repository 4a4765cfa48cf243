"""The playground: a local web page that draws, composes and plays tasks (`taskalgebra play`).

A shell over the public API.  `schema` is what goes in and out, and `refusals` says what is wrong
with it.  `solving` has a drawn world planned, and `expressions` has agents composed; with every
answer goes the Python program that does the same.  `presets` are the worlds to start from, a video
game that shipped networks play among them.  `app` is the server, `door` stands in front of it,
and `serve` starts it.  The page itself is in `static`, plain files without a build step.
"""
