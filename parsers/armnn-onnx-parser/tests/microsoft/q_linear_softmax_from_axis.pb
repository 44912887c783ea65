q_linear_softmax_from_axis*&Bi0JQ"·€ªWx "WÌUOfJ¨ÇŽ-p*&Bo0J	I8.L
%D