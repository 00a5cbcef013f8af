"""Why a package is in its phase, one module for each kind of phase."""
