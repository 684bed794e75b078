"""``role-early``: the chunk that only names the role comes at once, long before the first token."""

from dataclasses import replace

from vramledger.rehearse.faults.fault import Style, Without


class RoleEarly(Without):
    """As some servers and gateways do, so that who takes it for the first token measures nothing."""

    form = "role-early"

    def styled(self, style: Style) -> Style:
        """With the role at once."""
        return replace(style, role_early=True)
