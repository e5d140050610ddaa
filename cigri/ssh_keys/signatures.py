"""Signatures as `ssh-keygen -Y sign` writes them: which key made one, as it says itself."""

import binascii
import re
from base64 import b64decode

from cigri.ssh_keys.wire import read_fields

LONGEST_SIGNATURE = 12_000  # characters; of the longest RSA key it has 6000
MAGIC_AND_VERSION = b"SSHSIG\x00\x00\x00\x01"
_ARMOUR = re.compile(r"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?")


def read_signer(signature: str) -> bytes | None:
    """The public key that is in it, whether or not it has signed anything; None: this is no signature."""
    found = _ARMOUR.fullmatch(signature) if len(signature) <= LONGEST_SIGNATURE else None
    if found is None:
        return None
    try:
        data = b64decode(found[1].replace("\n", ""), validate=True)
        key, *others = read_fields(data.removeprefix(MAGIC_AND_VERSION))
    except (binascii.Error, ValueError):
        return None
    is_whole = data.startswith(MAGIC_AND_VERSION) and len(others) == len(("namespace", "reserved", "hash", "signed"))
    return key if is_whole else None
