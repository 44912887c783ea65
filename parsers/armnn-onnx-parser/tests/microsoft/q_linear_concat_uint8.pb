q_linear_concat_uint8*Bi2J>Ã5€¶*Bi5JV{Ô©*Bo0J
>Ã~”5€¶É¯