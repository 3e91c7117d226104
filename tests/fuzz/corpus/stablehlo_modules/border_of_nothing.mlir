module @jit_step attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%arg0: tensor<16x64xf32> {mhlo.sharding = "{devicmegatron_deepspeedes=[8,1]<=[8]}"}) -> tensor<16x64xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape($0) {mhlo.sharding = "{manual}"} : (tensor<16x64xf32>) -> tensor<2x64xf32>
    %2 = call @body(%1) : (tensor<2x64xf32>) -> tensor<2x64xf32>
    %3 = call @body(%2) : (tensor<2x64xf32>) -> tensor<2x64xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<2x64xf32>) -> tensor<16x64xf32>
    return %4 : tensor<16x64xf32>
  }
  func.func private @body(%arg0: tensor<2x64xf32>) -> tensor<2x64xf32> {
    %0 =pppppppppppppppppppppppppppppppppppppppp`pppppppppppppppppppppp "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_number;s = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.custom_call @mystery(%0) : (tensor<64x64xf32>) -> tensor<2x64xf32>
    return %1 : tensor<2x64xf32>
  }
}
