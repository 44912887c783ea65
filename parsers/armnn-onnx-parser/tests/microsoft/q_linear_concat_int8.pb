q_linear_concat_int8*Bi2JÆ“ñN{J*Bi5J”KT’*Bo0J
Æ“ñÖDN{JIÕ