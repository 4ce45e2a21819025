"""Where the server is and who we are to it, read from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from earmark_worker.errors import ConfigurationMissing


@dataclass(frozen=True)
class Settings:
    """One server and one phone agent.

    Shape: from `EARMARK_URL`, `EARMARK_SERVICE_KEY`, `EARMARK_ORGANIZATION`, `EARMARK_AGENT`.
    """

    url: str
    key: str
    organization: str
    agent: str

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """The settings in an environment.

        Raises: ConfigurationMissing, naming every variable that is not set.
        """
        names = ("EARMARK_URL", "EARMARK_SERVICE_KEY", "EARMARK_ORGANIZATION", "EARMARK_AGENT")
        missing = [name for name in names if not environment.get(name)]
        if missing:
            raise ConfigurationMissing(f"Not set: {', '.join(missing)}")
        return cls(*(environment[name] for name in names))
