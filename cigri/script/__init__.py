"""The old place of `cigri.shell`, from which drivers of other packages import, until 1.0."""
