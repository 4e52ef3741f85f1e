"""A running system's data in a folder, and back from it: the embedded server's, the corpus, the settings."""

from .making import make_backup
from .manifest import Manifest
from .restoring import Restored, restore_backup

__all__ = ["Manifest", "Restored", "make_backup", "restore_backup"]
