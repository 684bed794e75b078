"""What the API answers instead of tokens, in vLLM's form."""

import json
from http import HTTPStatus
from typing import Final

_TYPES: Final = {
    HTTPStatus.BAD_REQUEST: "BadRequestError",
    HTTPStatus.NOT_FOUND: "NotFoundError",
    HTTPStatus.TOO_MANY_REQUESTS: "RateLimitError",
    HTTPStatus.INTERNAL_SERVER_ERROR: "InternalServerError",
    HTTPStatus.SERVICE_UNAVAILABLE: "ServiceUnavailableError",
}


class Refusal(Exception):
    """A request that is answered with an error: its status, message and the parameter at fault."""

    def __init__(
        self,
        message: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        param: str | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.message, self.status, self.param, self.headers = message, status, param, headers

    @property
    def body(self) -> bytes:
        """The JSON object that is sent."""
        error = {
            "message": self.message,
            "type": _TYPES.get(self.status, self.status.phrase.replace(" ", "")),
            "param": self.param,
            "code": int(self.status),
        }
        return json.dumps({"error": error}).encode()
