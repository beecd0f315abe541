"""The databases that tests of sources run on."""

from databases import postgresql_port  # noqa: F401
