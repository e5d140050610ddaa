"""DIRAC's own job description language, read as a campaign of CiGri: text to tokens, attributes, sequences, fields."""

from cigri.jdl.dirac.translation import TranslatedJob, is_dirac, translate

__all__ = ["TranslatedJob", "is_dirac", "translate"]
