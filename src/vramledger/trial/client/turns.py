"""Conversations: a later turn waits for the end of the turn before and for the time its person thinks."""

from collections import deque

from vramledger.trial.planned import PlannedRequest


class _Conversation:
    __slots__ = ("ended_ns", "pending", "waiting")

    def __init__(self) -> None:
        self.pending = 0  # turns that are to be sent or under way
        self.ended_ns: int | None = None
        self.waiting: deque[PlannedRequest] = deque()


class Turns:
    """Says when a request is due; times are nanoseconds, `start_ns` is second 0 of `due_s`."""

    def __init__(self, start_ns: int) -> None:
        self.start_ns = start_ns
        self._conversations: dict[int, _Conversation] = {}
        self.waiting = 0  # turns whose predecessor has not ended

    def due_ns(self, planned: PlannedRequest) -> int | None:
        """When it is due, as it is read from the load; None where it waits for the turn before."""
        if planned.session is None:
            return self._own_ns(planned)
        conversation = self._conversations.setdefault(planned.session, _Conversation())
        if planned.think_s is not None and (conversation.pending or conversation.waiting):
            conversation.waiting.append(planned)
            self.waiting += 1
            return None
        conversation.pending += 1
        return self._after(planned, conversation.ended_ns)

    def ended(self, planned: PlannedRequest, now_ns: int) -> PlannedRequest | None:
        """A request has ended; the turn that follows it, if one was waiting for this."""
        if planned.session is None:
            return None
        conversation = self._conversations[planned.session]
        conversation.pending -= 1
        conversation.ended_ns = now_ns
        if conversation.pending or not conversation.waiting:
            return None
        self.waiting -= 1
        conversation.pending += 1
        return conversation.waiting.popleft()

    def following_ns(self, planned: PlannedRequest, ended_ns: int) -> int:
        """When a turn is due whose predecessor ended then."""
        return self._after(planned, ended_ns)

    def _after(self, planned: PlannedRequest, ended_ns: int | None) -> int:
        own = self._own_ns(planned)
        if ended_ns is None or planned.think_s is None:
            return own
        return max(own, ended_ns + round(planned.think_s * 1e9))

    def _own_ns(self, planned: PlannedRequest) -> int:
        return self.start_ns + round((planned.due_s or 0.0) * 1e9)
