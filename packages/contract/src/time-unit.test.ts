import { describe, expect, it } from 'vitest';

import { hasForeignLetters, timeWordOfName, timeWordOfUnit } from './time-unit.ts';

const rowsOf = (table: string) => table.trim().split(/\s*\|\s*/);

const TIME_UNITS = `
  ms | s | S | sec | secs | second | seconds | Seconds | SECONDS | msec | msecs |
  milliseconds | Milliseconds | microseconds | µs | μs | us | ns | nanoseconds |
  min | mins | minutes | h | hr | hours | days | weeks | fortnight | years | MS |
  ops/s | ops/sec | op/s | MB/s | MiB/s | Mbit/s | req/sec | requests per second |
  bytes per second | bytes/second | bytes-per-second | bytes_per_second | bytesPerSecond |
  opspersec | s^-1 | s⁻¹ | s-1 | s−1 | 1/s | s² | bit·s⁻¹ | Hz | kHz | MHz | hertz |
  rps | RPS | qps | tps | fps | iops | Mbps | rpm | FLOPS | MIPS | Mops |
  p95 | p99 | P99 | p99.9 | p50 latency | latency | Latency (ms) | throughput |
  cpu-seconds | CPU seconds | core-hours | wallclock | wall clock | wall-clock | walltime |
  ticks | jiffies | clock ticks | elapsed | duration | time | runtime | speedup |
  rtt | TTFB | TTI | CPU | cpu % | Sek | mn | zeit | temps | tiempo | pause | x faster |
  percent of a second | second-order seconds | % of a minute | s/s | ｍｓ | ｓｅｃｏｎｄｓ | m\u200bs | se\u00adconds
`;

const HONEST_UNITS = `
  bytes | byte | B | kB | KB | KiB | MB | MiB | GB | GiB | bits | Mbit | octets |
  lines | words | count | counts | Count | f1 | F1 | macro-F1 | ratio | % | percent |
  opcodes | instructions | blocks | points | score | accuracy | errors | warnings |
  files | tests | rows | records | characters | chars | tokens | nodes | edges | pages |
  allocations | objects | calls | comparisons | steps | iterations | epochs | samples |
  queries | requests | messages | papers | wrappers | helpers | persons | cases | classes |
  bytes per word | bytes/word | errors per file | ppm | pixels | metres | grams | mm | m |
  bleu | rouge-l | top-1 accuracy | perplexity | MSE | loc | cyclomatic complexity |
  second-order terms | second level calls | ops | operations | maps | loops | hops | items | entries | symbols | cents | units
`;

const TIME_NAMES = `
  duration | elapsed | elapsed_total | latency | latency_p95 | p95 | p99 | p95_latency |
  time_ms | timeMs | time | time_total | response_time | responseTime | ResponseTime |
  compile_time | runtime | total_runtime | wall_clock | wallclock | cpu_seconds | cpuSeconds |
  throughput | max_throughput | ops_per_second | bytes_per_sec | requests per second | rps |
  frame_rate | request rate | speed | speed index | latency_factor | speedup | time_to_first_byte | number_of_milliseconds |
  rtt | ttfb | gc_pause | cpu | cpu_usage | cpu_load | clock_cycles | cpu cycles | times_faster |
  elapsed_s | elapsedms | build duration | startup delay | seconds | mean_latency_score
`;

const HONEST_NAMES = `
  timeout_errors | runtime_files | lifetime_objects | sometimes | class_count | peak_heap |
  time_zones | timestamps_parsed | compile_time_errors | seconds_field_errors | clock_files |
  index_size | word_index | macro_f1 | pass_rate | error_rate | win rate | max_depth | min_count | max_min_ratio |
  bytes_total | bundle_size | lines_changed | instructions | opcode_count | block_count |
  import_cycles | dependency cycles | memory_usage | workload | page_load_errors |
  p95_heap_bytes | heap_p99 | runtime_dependencies | latency_test_failures | sec_findings
`;

// Keeps R-APPROVAL-TIME.
describe('timeWordOfUnit', () => {
  it.each(rowsOf(TIME_UNITS))('finds time in %j', (unit) => {
    expect(timeWordOfUnit(unit)).not.toBeNull();
  });

  it.each(rowsOf(HONEST_UNITS))('finds no time in %j', (unit) => {
    expect(timeWordOfUnit(unit)).toBeNull();
  });
});

describe('timeWordOfName', () => {
  it.each(rowsOf(TIME_NAMES))('finds time in %j', (name) => {
    expect(timeWordOfName(name)).not.toBeNull();
  });

  it.each(rowsOf(HONEST_NAMES))('finds no time in %j', (name) => {
    expect(timeWordOfName(name)).toBeNull();
  });
});

describe('hasForeignLetters', () => {
  it.each(['мс', 'mѕ', '秒', 'секунды', 'σ'])('finds them in %j', (unit) => {
    expect(hasForeignLetters(unit)).toBe(true);
  });

  it.each(['µs', 'Größe', 'bit·s⁻¹', '%', 'ｍｓ', '10³ lines'])('finds none in %j', (unit) => {
    expect(hasForeignLetters(unit)).toBe(false);
  });
});
