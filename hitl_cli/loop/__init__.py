"""The agent's loop: takes the next step, does it, records it, shows it.

opening       how a run begins: with a message, answers, or what was cut off
drive         one run of one session: step, effect, record, event; running: those that go on, watched and stopped
edges         the two ends of a turn, through their hooks
modelstep     one request to the model
performing    one call, from its verdict to its one result; verdicts: may it run, and what a person is shown
resolving     answers, through their one door
asking        code that asks a person, by replay
refusals      what is refused whole, nothing changed
leasing, folding, views, blocking, context, compaction
              what holds a session, knows it, reads it, waits for it, measures it and sums it up
"""
