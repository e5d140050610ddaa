"""How much is read of what jobs leave: their users may have put anything in the place of a file of ours.

Only regular files are read, no links: a FIFO would hold the reader, a device or a huge file fill it.
"""

FILE_BYTES = 2**20  # of one file; a record has some 120
ANSWER_BYTES = 2**24  # of all files of a kind that one answer tells of
FILES = 20_000  # of one directory
JOURNAL_LINES = 20_000  # of one file
LONGEST_RECORD = 1000  # characters of a line; a record has fewer
BLOCKS = FILE_BYTES // 512  # as `find -size` counts

# in a subshell, as a failed redirection may end a shell; -C: what somebody puts there meanwhile is not opened
WRITE_NEW = """\
cigri_write_new() (
    umask 077 && rm -f -- "$1" && set -C && printf %s "$2" >"$1"
)
"""
IS_FILE = """\
cigri_is_file() {
    [ -f "$1" ] && [ ! -L "$1" ]
}
"""
