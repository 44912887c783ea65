"q_linear_add_computed_scales_uint8*Bi0J
±Ê%]•Np*Bi1J¶óı<*	Bi2Jx*Bi3J
Q:\å~oG*Bi4J–C‹<*	Bi5Jc*Bi6JìQ8=*	Bi7Jƒ*Bo0J
¢‡µ:/¹{œIs