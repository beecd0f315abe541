"""Pictures that pages of the site show, and that the library has no method for."""
