!q_linear_add_computed_scales_int8*Bi0J
ywM`í@”d*Bi1J¶óý<*	Bi2Jø*Bi3J
W±x:®„gÁ†‰*Bi4J–C‹<*	Bi5Jã*Bi6JìQ8=*	Bi7J*Bo0J
þ^7Øf±ê+