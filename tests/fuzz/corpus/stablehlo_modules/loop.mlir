module {
  func.func @main(%arg0: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c) : tensor<8x8xbf16>, tensor<i32>
    cond {
      %c_1 = stablehlo.constant dense<4> : tensor<i32>
      %1 = stablehlo.compare  LT, %iterArg_0, %c_1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %iterArg_0, %c_1 : tensor<i32>
      %2 = stablehlo.dot_general %iterArg, %iterArg, contracting_dims = [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
      stablehlo.return %2, %1 : tensor<8x8xbf16>, tensor<i32>
    }
    return %0#0 : tensor<8x8xbf16>
  }
}

// -----
module @empty_of_products {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
