from tests import stored_parses

stored_parses.share()
