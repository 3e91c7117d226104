#!/bin/bash
python3 -m MaxText.train configs/base.yml model_name=llama2-7b per_device_batch_size=4 \
  ici_fsdp_parallelism=-1 dcn_data_parallelism=2 remat_policy=full max_target_length=4096 run_name=$RUN steps=10
