mat_mul_integer_to_float_uint8*$Bi0J®4ÉÌ¸}kLpàbÀf!uz!)ƒLm…*Bi2J
×£<*	Bi4Jx*HBo0J<‡ş”?_È|?´4@å¿9ÌR@¤åÀ‹¿n%È¾‚SYÀÀU¿NFÄÀMí¬À°/8ÀLõfÀ˜ÅiÀ