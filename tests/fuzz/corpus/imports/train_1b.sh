#!/bin/bash
#SBATCH --nodes=4
GPUS=8
NODES=${NODES:-4}
FLAGS=(
  --num-layers 24
  --hidden-size 2048
  --num-attention-heads 16
  --group-query-attention
  --num-query-groups 8
  --ffn-hidden-size 8192
  --swiglu
  --normalization RMSNorm
  --position-embedding-type rope
  --untie-embeddings-and-output-weights
  --disable-bias-linear
  --hidden-dropout 0
  --seq-length 4096
  --max-position-embeddings 4096
  --micro-batch-size 1
  --global-batch-size 64
  --bf16
  --tensor-model-parallel-size 2
  --sequence-parallel
  --use-distributed-optimizer
  --overlap-grad-reduce
  --lr 3e-4
  --train-iters 1000
  --data-path $DATA_PATH
  --my-own-option 3
)
torchrun --nproc_per_node $GPUS --nnodes $NODES pretrain_gpt.py "${FLAGS[@]}" --vocab-size 128256
