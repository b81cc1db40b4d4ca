// Exists so that the precompiled header of the tests belongs to a target.
