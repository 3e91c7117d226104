module @jit_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%w0: tensor<784x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b0: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %w1: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b1: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %w2: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b2: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %w3: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b3: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %w4: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b4: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %w5: tensor<128x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b5: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}, %x: tensor<32x784xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %t: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<f32> {
    %d0 = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (tensor<32x784xf32>, tensor<784x128xf32>) -> tensor<32x128xf32>
    %e0 = stablehlo.broadcast_in_dim %b0, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
    %s0 = stablehlo.add %d0, %e0 : tensor<32x128xf32>
    %r0 = func.call @relu(%s0) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %d1 = stablehlo.dot_general %r0, %w1, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x128xf32>) -> tensor<32x128xf32>
    %e1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
    %s1 = stablehlo.add %d1, %e1 : tensor<32x128xf32>
    %r1 = func.call @relu(%s1) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %d2 = stablehlo.dot_general %r1, %w2, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x128xf32>) -> tensor<32x128xf32>
    %e2 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
    %s2 = stablehlo.add %d2, %e2 : tensor<32x128xf32>
    %r2 = func.call @relu(%s2) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %d3 = stablehlo.dot_general %r2, %w3, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x128xf32>) -> tensor<32x128xf32>
    %e3 = stablehlo.broadcast_in_dim %b3, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
    %s3 = stablehlo.add %d3, %e3 : tensor<32x128xf32>
    %r3 = func.call @relu(%s3) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %d4 = stablehlo.dot_general %r3, %w4, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x128xf32>) -> tensor<32x128xf32>
    %e4 = stablehlo.broadcast_in_dim %b4, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
    %s4 = stablehlo.add %d4, %e4 : tensor<32x128xf32>
    %r4 = func.call @relu(%s4) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %d5 = stablehlo.dot_general %r4, %w5, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x8xf32>) -> tensor<32x8xf32>
    %e5 = stablehlo.broadcast_in_dim %b5, dims = [1] : (tensor<8xf32>) -> tensor<32x8xf32>
    %s5 = stablehlo.add %d5, %e5 : tensor<32x8xf32>
    %u = stablehlo.subtract %s5, %t : tensor<32x8xf32>
    %q = stablehlo.multiply %u, %u : tensor<32x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %p = stablehlo.reduce(%q init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x8xf32>, tensor<f32>) -> tensor<32xf32>
    %v = stablehlo.reduce(%p init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %n = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %m = stablehlo.divide %v, %n : tensor<f32>
    return %m : tensor<f32>
  }
  func.func private @relu(%a: tensor<32x128xf32>) -> tensor<32x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %1 = stablehlo.maximum %a, %0 : tensor<32x128xf32>
    return %1 : tensor<32x128xf32>
  }
}
