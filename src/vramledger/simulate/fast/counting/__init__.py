"""A whole engine by counts: for full attention, first come first served, without prefix caching.

Then it does not matter which blocks a request holds, and every decode of a step moves alike:

* A decode needs a block when its tokens so far fill whole blocks. All whose tokens fill up in the same
  steps stand in one of `block_size` phases, so a step's need is one count (`world.PHASE`).
* When a request ends is known as soon as its prefill is: it stands in a calendar of steps. Who is
  preempted leaves it.
* Blocks go out in the order of the running list and the last of the list is preempted, so those that stay
  are its longest prefix whose needs are met together; preempting from the end until the sum fits
  finds the same as serving one after another.
* Only the last of the running list can be in the middle of its prefill, since its first chunk used up the
  step's budget and nobody is admitted before it goes on.
* Blocks held over time are the sum, over blocks, of the time between taking and giving back; the times
  at which a phase's decodes take theirs are summed once for all of them.
"""
