import Qty from 'js-quantities';

/**
 * Why a unit measures time (or a rate, or a share of it), as the word that gives it away; null where it does not.
 * Each factor of the unit is looked up on its own, so that nothing cancels: a ratio of seconds is still clocked.
 */
export function timeWordOfUnit(unit: string): string | null {
  return unitWords(unit).find(isTimeUnitWord) ?? null;
}

/** Letters of no Latin script: nobody can tell here what the unit means. */
export function hasForeignLetters(unit: string): boolean {
  return /[^\p{Script=Latin}\p{Script=Common}]/u.test(foldText(unit));
}

/**
 * Why a metric's name speaks of time although its unit does not, or null. English puts the noun last, so
 * `timeout_errors` counts errors and `compile_time` is a time; words that only aggregate are passed over.
 */
export function timeWordOfName(name: string): string | null {
  for (const phrase of namePhrases(name)) {
    const head = phrase.findLast((word) => !AGGREGATES.has(word));
    if (head !== undefined && isTimeNoun(head, phrase)) return head;
    const percentile = phrase.find((word) => PERCENTILE.test(word));
    if (percentile !== undefined && !phrase.some((word) => SIZE_NOUNS.has(word))) return percentile;
  }
  return null;
}

const PERCENTILE = /^p\d{2,4}(th)?$/;

// What no unit library knows: the words for elapsed time, and rates that swallow their "per second".
const TIME_WORDS = new Set(
  `time times timing timings duration durations elapsed latency latencies delay delays lag wall wallclock walltime
  clock runtime cputime realtime usertime systime throughput bandwidth speed speedup tick ticks jiffy jiffies
  sec secs msec msecs usec usecs nsec nsecs milli millis micro micros nano nanos mus instant
  rps qps tps fps iops bps kbps mbps gbps pps eps cps lps wps mips flops kops mops gops kflops mflops gflops tflops rpm bpm
  hz khz mhz ghz sekunde sekunden minuten stunde stunden seconde secondes segundo segundos secondo secondi
  uptime downtime responsetime overtime jitter rtt ttfb tti fcp lcp tbt sek mn cpu pause pauses stall stalls
  faster slower slowness zeit dauer tiempo temps makespan turnaround`.split(/\s+/),
);
const FILLERS = new Set(['a', 'an', 'the', 'of', 'in', 'per', 'and', 'or', 'to', 'each', 'number']);
const TIME_SUFFIX =
  /(latency|duration|elapsed|seconds?|millis|micros|nanos|throughput|wallclock|runtime)$/;
const PER_TIME = /^.+per(secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|ms)$/;

// Not the unit: "second-order terms".
const ORDINAL = /\bsecond[ -](order|degree|level)\b/gi;

function unitWords(unit: string): string[] {
  return foldText(unit)
    .replace(ORDINAL, '')
    .split(/[^A-Za-z0-9%]+/)
    .flatMap((word) => [word, ...splitCamelCase(word)])
    .map((word) => word.replace(/^\d+/, ''))
    .filter((word) => word !== '' && !FILLERS.has(word.toLowerCase()));
}

function isTimeUnitWord(word: string): boolean {
  const lower = word.toLowerCase();
  if (TIME_WORDS.has(lower) || /^p\d{1,4}(th)?$/.test(lower)) return true;
  if (TIME_SUFFIX.test(lower) || PER_TIME.test(lower)) return true;
  return hasTimeDimension(word) || hasTimeDimension(lower);
}

/** Dimensional analysis: seconds above or below the line of the word in base units. */
function hasTimeDimension(word: string): boolean {
  // Only letters: the library would read digits and signs as numbers and exponents.
  if (!/^[A-Za-z]+$/.test(word)) return false;
  const quantity = quantityOf(word);
  if (quantity === null) return false;
  const { numerator, denominator } = quantity.toBase();
  return numerator.includes('<second>') || denominator.includes('<second>');
}

function quantityOf(word: string): Qty | null {
  try {
    return Qty(1, word);
  } catch (error) {
    if (error instanceof Qty.Error) return null;
    throw error;
  }
}

// Skipped when looking for a name's noun: `duration_total` is a duration.
const AGGREGATES = new Set(
  `total sum max min maximum minimum mean avg average median value values score metric result overall ratio percent
  percentage pct p50 p75 p90 p95 p99 p999 abs relative absolute delta diff change best worst final raw units number
  index factor rating count observed measured`.split(/\s+/),
);
// Nouns of size: a percentile of these is a size.
const SIZE_NOUNS = new Set(
  `heap memory bytes byte size sizes length lengths depth lines line words count counts blocks instructions opcodes
  allocations objects chars characters kb mb kib mib tokens errors error files`.split(/\s+/),
);
const RATES_IN_TIME = new Set(
  'frame data bit sample request transfer refresh clock polling tick byte'.split(' '),
);
const PROCESSORS = new Set(['cpu', 'clock', 'processor', 'core', 'machine']);
const PREPOSITION = /^(to|of|per|for|in|until|between|on|with|by|from)$/;

function namePhrases(name: string): string[][] {
  const words = foldText(name)
    .split(/[^A-Za-z0-9]+/)
    .flatMap((word) => (PERCENTILE.test(word.toLowerCase()) ? [word] : splitCamelCase(word)))
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '');
  const phrases: string[][] = [[]];
  for (const word of words) {
    if (PREPOSITION.test(word)) phrases.push([]);
    else phrases.at(-1)?.push(word);
  }
  return phrases;
}

function isTimeNoun(word: string, phrase: readonly string[]): boolean {
  if (TIME_WORDS.has(word) || TIME_SUFFIX.test(word) || PER_TIME.test(word)) return true;
  if (/^(elapsed|latency|duration|wallclock)/.test(word)) return true;
  // Of a graph they are a count; a processor's come and go with what else runs.
  if (/^cycles?$/.test(word)) return phrase.some((other) => PROCESSORS.has(other));
  if (/^(usage|utili[sz]ation|load)$/.test(word)) return phrase.includes('cpu');
  if (word === 'rate') return phrase.some((other) => RATES_IN_TIME.has(other));
  // One letter is too little to go by, but for the symbol of the second.
  if (word.length === 1) return word === 's';
  const quantity = /^[a-z]+$/.test(word) ? quantityOf(word) : null;
  return quantity !== null && ['time', 'frequency'].includes(quantity.kind());
}

function splitCamelCase(word: string): string[] {
  return word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
}

/** One spelling for all: full-width letters, both micro signs, accents, superscripts and invisible characters. */
function foldText(text: string): string {
  return text
    .replace(/[⁰¹²³⁴-⁹⁺⁻]+/g, '^')
    .normalize('NFKD')
    .replace(/\p{M}|\p{Cf}/gu, '')
    .replaceAll('μ', 'u');
}
