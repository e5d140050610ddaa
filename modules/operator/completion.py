"""`cigri completion`: prints what a shell needs to complete the words of all commands."""

import shtab

from cigri.cli.command import DONE, CommandParser
from modules.operator.parsers import joined, list_programs

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """\
  eval "$(cigri completion bash)"        in ~/.bashrc
  source <(cigri completion zsh)         in ~/.zshrc, below compinit
  cigri completion fish | source         in ~/.config/fish/config.fish"""


def run(argv: list[str]) -> int:
    parser = CommandParser("cigri completion", "Print the completion of all commands for a shell.", EXAMPLES)
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    shell = parser.parse_args(argv).shell
    for tree in list_programs().values():
        print(shtab.complete(joined(tree), shell))
    return DONE
