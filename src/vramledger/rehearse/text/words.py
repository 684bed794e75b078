"""The words that rehearsed answers are made of: common English ones, all different, small letters only."""

from typing import Final

_TEXT: Final = """
the of and to in is that for it as was with be by on not he his but at are this have from or had an they which
one you were all her she there would their we him been has when who will no more if out so up said what its
about than into them can only other time new some could these two may first then do any like my now over such
our man me even most made after also did many before must through years where much your way well down should
because each just those people how too little state good very make world still see own work men day get here
between both life being under three never know same last another while us off might great go come since against
right came take used himself few house use during without again place american around however home small found
thought went say part once general high upon school every does got united left number course war until always
away something fact water though less public put think almost hand enough far took head yet government system
set better told nothing night end why find going look point knew next city business case group give days large
began important power rather side want young room given seems open order light memory page block token batch
model answer question table figure step measure record server client engine queue cache reason result value
range share weight layer window stream
"""
WORDS: Final = tuple(_TEXT.split())
