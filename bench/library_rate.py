# The loop of library_rate.cc from Python, the time of an import, and the memory that a long loop keeps:
# PYTHONPATH=build/packages/python bench/library_rate.py SCENARIO TIMES
import resource
import sys
import time

begin = time.process_time()
import podsim  # noqa: E402

print(f"import: {1000 * (time.process_time() - begin):.0f} ms of CPU")
scenario = podsim.Scenario.load(sys.argv[1])
times = int(sys.argv[2])
total = 0.0


def evaluate(i):
    global total
    scenario["job.global_batch_sequences"] = 512 if i % 2 == 0 else 1024
    total += scenario.evaluate().step_time_s


for i in range(2):
    evaluate(i)
memory = []
begin = time.process_time()
for i in range(times):
    evaluate(i)
    if i in (times // 10, times - 1):
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(f"Python: {times / (time.process_time() - begin):.1f} evaluations a second of CPU (sum {total:.6f} s)")
print(f"memory: {memory[-1] - memory[0]} KiB more after {times} evaluations than after {times // 10}")
