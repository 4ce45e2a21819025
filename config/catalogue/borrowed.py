"""Words that pages look up although no template or module of ours spells them out."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_noop as _

from knowledge.retrieval.grounding import NO_MATCH, UNAVAILABLE, WEAK
from knowledge.retrieval.siblings import ASK_WHICH

# What the contract says on the wire; pages show a word for each.
OF_THE_WIRE: Final = (
    _("ok"), _("no_match"), _("restricted_empty"), _("timeout"), _("unavailable"),
    _("voice"), _("staff"), _("all"), _("selected"), _("instruction"), _("knowledge"), _("golden"),
    _("lexical"), _("dense"), _("pending"), _("retrying"), _("failed"), _("live"),
    _("embed"), _("scope"), _("candidates"), _("fuse"), _("render"),
    _("created"), _("updated"), _("unchanged"), _("pruned"), _("moved"),
)  # fmt: skip
# What the model is told beside results, in English; staff read it in their language.
GUIDANCE: Final = (WEAK, NO_MATCH, UNAVAILABLE, ASK_WHICH)
# What Django's own Arabic lacks.
OF_DJANGO: Final = (
    _("Password-based authentication"), _("Enabled"), _("Disabled"), _("Reset password"),
    _("Set password"), _("Raw passwords are not stored, so there is no way to see the user’s password."),
    _("Whether the user will be able to authenticate using a password or not. If disabled, they may "
      "still be able to authenticate using other backends, such as Single Sign-On or LDAP."),
    _("algorithm"), _("salt"), _("hash"), _("iterations"), _("variety"), _("version"),
    _("memory cost"), _("time cost"), _("parallelism"), _("work factor"),
)  # fmt: skip
