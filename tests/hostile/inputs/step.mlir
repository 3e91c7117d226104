module @step {
  sdy.mesh @mesh = <["data"=16, "model"=8]>
  func.func public @main(%x: tensor<256x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<1024x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %v: tensor<4096x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<256x1024xbf16>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<256x4096xbf16>
    %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<256x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<256x1024xbf16>
    return %1 : tensor<256x1024xbf16>
  }
}
