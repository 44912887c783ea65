q_gemm_real_output*$Bi0JàXşŒ„b8´qÂˆu
ÏØû;ÛÏ*HBo0J<s¾cU¾ ”?åo¢¾N{?s¢%¾Äå¾o˜=‹ÎG¿KÇ½E$®¿ÛI=òg¾“óç¾¥İ>