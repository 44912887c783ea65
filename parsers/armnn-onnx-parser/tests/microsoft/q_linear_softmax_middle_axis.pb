q_linear_softmax_middle_axis*&Bi0J†Fp°îÓcç²Ee¦ÍHÛí>¼Æž*&Bo0JCœ†
Ü!uï+í’±×`$