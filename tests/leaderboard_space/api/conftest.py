"""The command in this process, as the tests of the commands have it."""
