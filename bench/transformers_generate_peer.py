#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Greedy generation with transformers from a Hugging Face folder, one thread: rows "transformers DTYPE 1 SECONDS_PER_TOKEN".

    transformers_generate_peer.py FOLDER FEW MANY REPEATS

A token costs the difference between generating MANY and FEW tokens, so that loading and the prompt do not count.
"""
import sys
import time

import torch
import transformers


def main():
    folder, few, many, repeats = sys.argv[1], *map(int, sys.argv[2:])
    torch.set_num_threads(1)
    prompt = torch.arange(1, 9)[None]
    for name, dtype in ("f32", torch.float32), ("bf16", torch.bfloat16):
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
        best = {few: float("inf"), many: float("inf")}
        for _ in range(repeats):
            for n in best:
                begin = time.perf_counter()
                with torch.no_grad():
                    model.generate(prompt, max_new_tokens=n, min_new_tokens=n, do_sample=False, use_cache=True)
                best[n] = min(best[n], time.perf_counter() - begin)
        print(f"transformers\t{name}\t1\t{(best[many] - best[few]) / (many - few):.9f}", flush=True)


if __name__ == "__main__":
    main()
