"""Register every scenario."""

from . import capture as capture
from . import clean as clean
from . import confirmed as confirmed
from . import decoys as decoys
from . import formats as formats
from . import partial as partial
from . import refuted as refuted
from . import runs as runs
from . import topology as topology
from . import xid as xid
