"""What a document gains for where it lies: of the reasons that there can be, the one that counts."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Near(Struct, frozen=True):
    """What the documents of a repo gain, and ``why``: it is a repo that the task names, or the one at hand, or lies below one of
    them (``home``) or beside the one at hand; or most or some of the matches lie there, where no repo is at hand.
    """

    worth: float = 0.0
    why: Literal["", "named", "at hand", "below", "beside", "most", "some"] = ""
    home: str = ""

    def in_words(self, repo: str, named: dict[str, str]) -> str:
        """``in shop, the repo at hand``. ``repo``: the innermost repo of these documents, empty where they lie in none;
        ``named``: the repos that the task names, each with the words that it does so with, empty where they are its name.
        """
        place = f"in {repo}" if repo else "outside all repos"
        if self.why in ("named", "below") and self.home in named:
            below = f"below {self.home}, " if self.why == "below" else ""
            said = f' as "{named[self.home]}"' if named[self.home] else ""
            return f"{place}, {below}which the task names{said}"
        how = {
            "at hand": "the repo at hand",
            "below": "below the repo at hand",
            "beside": "beside the repo at hand",
            "most": "where most matches lie",
            "some": "where some matches lie",
        }
        return f"{place}, {how[self.why]}" if self.why in how else place
