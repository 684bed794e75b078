"""The driver's library, opened: questions that it may leave unanswered, and the GPUs it shows."""

from collections.abc import Callable
from typing import Any, TypeVar

from vramledger.errors import CannotKnow
from vramledger.hardware.local import slices

T = TypeVar("T")


class Nvml:
    """An open library; close it. `library` is the vendor's binding.

    Raises:
        CannotKnow: no library or no driver.
    """

    def __init__(self) -> None:
        import pynvml

        self.library: Any = pynvml
        self._failing = (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError)
        try:
            pynvml.nvmlInit()
        except self._failing as error:
            raise _unread(error) from None

    def told(self, call: Callable[[], T]) -> T | None:
        """The answer, None where it is "not supported", "no permission" or "not in this version"."""
        try:
            return call()
        except self._failing:
            return None

    @property
    def driver(self) -> str | None:
        """The driver's version."""
        return self.told(lambda: str(self.library.nvmlSystemGetDriverVersion()))

    def gpus(self) -> dict[str, Any]:
        """The handles of all GPUs, by UUID.

        Raises:
            CannotKnow: the driver does not list them.
        """
        nvml = self.library
        try:
            handles = [
                nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())
            ]
            return {str(nvml.nvmlDeviceGetUUID(handle)): handle for handle in handles}
        except self._failing as error:
            raise _unread(error) from None

    def slices(self, gpu: Any) -> dict[str, Any]:
        """The handles of a GPU's MIG slices, by UUID; none where it is not cut."""
        nvml = self.library
        found = {
            self.told(lambda p=part: str(nvml.nvmlDeviceGetUUID(p))): part  # type: ignore[misc]
            for part in slices(nvml, gpu)
        }
        return {uuid: part for uuid, part in found.items() if uuid is not None}

    def close(self) -> None:
        """Let go of the library."""
        self.told(self.library.nvmlShutdown)


def _unread(error: Exception) -> CannotKnow:
    return CannotKnow(f"The GPUs of this machine cannot be read: NVML says {error}.")
