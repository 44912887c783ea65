mat_mul_integer_to_float_int8*$Bi0JO¼ÂêÄ.QRc(»Á¤NÖz”Ñ[^*Bi2J
×£<*	Bi4Jx*HBo0J<™@¯‘@r@>”\À;ÒÀ:¹¶¿ Ò3Àd9á?ÈÆ?Hj´?ná¿*‡2@Nd¿øÛ¬@òtë¿