
drawn_29What, "exactly", does it cost? *"
gb200nvl72_gb200Bspotj"2J
dlrm_8_tablesdgxc_2025_gb200*
data*
fsdp2zero32fsdpH€PXh