module {
  func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:9 = stablehlo.while(%i = %a, %j = %c) : tensor<8x8xf32>, tensor<i32>
     cond {
      %1 = stablehlo.compare LT, %j, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      stablehlo.return %i, %j : tensor<8x8xf32>, tensor<i32>
    }
    return %0#0 : tensor<8x8xf32>
  }
}
