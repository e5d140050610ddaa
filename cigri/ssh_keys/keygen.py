"""OpenSSH's ssh-keygen, which signs for a user, also by an agent or with hardware, and verifies for the grid."""

import os
import subprocess
import tempfile
from pathlib import Path

from cigri.errors import CigriError, ConfigError
from cigri.ssh_keys.challenge_text import NAMESPACE

KEYGEN_PROGRAM = "ssh-keygen"
SIGNER = "signer"
"""The one principal of our file of allowed signers: whose key it is stands in the text that is signed."""
LONGEST_VERIFYING = 5.0  # seconds; it takes 12 ms
KEPT_VARIABLES = ("PATH", "TMPDIR")


def sign(text: str, key: Path) -> str:
    """With the private key, or the agent's where `key` is a public one; it may ask for a passphrase, or a touch."""
    argv = [KEYGEN_PROGRAM, "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)]
    try:
        done = subprocess.run(argv, input=text.encode(), stdout=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise CigriError(f"there is no {KEYGEN_PROGRAM} here: install OpenSSH's client") from None
    if done.returncode != 0:
        raise CigriError(f"{KEYGEN_PROGRAM} did not sign with {key} (exit status {done.returncode})")
    return done.stdout.decode(errors="replace")


def verifies(key: str, signature: str, text: str) -> bool:
    """Has `key`, a line of a file of public keys, signed just this text, in our namespace?"""
    with tempfile.TemporaryDirectory(prefix="cigri-signature-") as directory:
        allowed, signed = Path(directory, "allowed"), Path(directory, "signature")
        allowed.write_text(f'{SIGNER} namespaces="{NAMESPACE}" {key}\n')
        signed.write_text(signature)
        argv = [KEYGEN_PROGRAM, "-Y", "verify", "-f", str(allowed), "-I", SIGNER, "-n", NAMESPACE, "-s", str(signed)]
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        try:
            done = subprocess.run(
                argv,
                input=text.encode(),
                capture_output=True,
                check=False,
                cwd=directory,
                env=environment,
                timeout=LONGEST_VERIFYING,
            )
        except FileNotFoundError:
            raise ConfigError(
                f"there is no {KEYGEN_PROGRAM} on the grid's host: its operator installs OpenSSH"
            ) from None
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0
