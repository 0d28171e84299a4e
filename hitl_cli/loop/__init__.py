"""The agent's loop: takes the next step, does it, records it, shows it.

drive         one run of one session: step, effect, record, event
edges         the two ends of a turn, through their hooks
modelstep     one request to the model
performing    one call, from its verdict to its one result; verdicts: may it run, and what a person is shown
resolving     answers, through their one door
asking        code that asks a person, by replay
refusals      what is refused whole, nothing changed
leasing, views, blocking, context, compaction     what holds a session, reads it, waits for it, measures and sums it up
"""
