q_linear_average_pool_ceiling*XBi0JHŒòàz™^ËÆ±NákL0`\‡Ü£öTÄq= XTT2ü²V‹Ñ
6’ÙæoÔ–SogQlcg*p+@†µŞ+îózYŠ‡ğÜ*(Bo0J~W‚aVJlbTSg€hBbRfDsn‡Œ™