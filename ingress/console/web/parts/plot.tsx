/** Charts: stacked bars over time, a sparkline, and attempts on one time scale. A table below has the same figures. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

export interface Series {
  readonly name: string;
  /** Values in the order of the buckets. */
  readonly values: readonly number[];
}

const WIDTH = 1_000;
const HEIGHT = 1_000;
/** Gap between neighbours, in units of the drawing. */
const GAP = 4;
const LINES = 4;

/**
 * Stacked bars, of which one is described when the pointer or the focus is on it.
 * @param label unit and groups of the bars, such as `Credits per day by model`, which is shown above them
 * @param buckets labels of the buckets in order of time
 * @param series at most six; the last one may be "other"
 */
export function StackedBars({
  buckets,
  series,
  format,
  label,
  height = 200,
}: {
  readonly buckets: readonly string[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly label: string;
  readonly height?: number;
}): JSX.Element {
  const [active, setActive] = useState<number>();
  const totals = buckets.map((_bucket, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const top = roundUp(Math.max(...totals, 0));
  const step = WIDTH / Math.max(1, buckets.length);
  const move = (by: number): void => setActive(Math.min(buckets.length - 1, Math.max(0, (active ?? -1) + by)));
  return (
    <div class="plot" style={{ "--plot-h": `${height}px` }}>
      <span class="unit" aria-hidden="true">
        {label}
      </span>
      <div class="y" aria-hidden="true">
        {Array.from({ length: LINES + 1 }, (_, line) => (
          <span key={line}>{lineText(format, (top * (LINES - line)) / LINES)}</span>
        ))}
      </div>
      <div
        class="area-box"
        tabIndex={0}
        role="img"
        aria-label={`${label}. The table below has the same figures.`}
        onKeyDown={({ key }) => {
          if (key === "ArrowRight") move(1);
          else if (key === "ArrowLeft") move(-1);
        }}
        onBlur={() => setActive(undefined)}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          setActive(
            Math.min(buckets.length - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * buckets.length))),
          );
        }}
        onPointerLeave={() => setActive(undefined)}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {buckets.map((bucket, index) => {
            let below = 0;
            return series.map(({ name, values }, place) => {
              const size = top === 0 ? 0 : ((values[index] ?? 0) / top) * HEIGHT;
              const bottom = below;
              below += size;
              return size === 0 ? null : (
                <rect
                  key={`${bucket} ${name}`}
                  class={`f${place + 1}`}
                  x={index * step + step * 0.1}
                  y={HEIGHT - bottom - size}
                  width={step * 0.8}
                  height={Math.max(1, size - GAP)}
                />
              );
            });
          })}
        </svg>
        {active === undefined ? null : (
          <Tip
            bucket={buckets[active] ?? ""}
            index={active}
            count={buckets.length}
            {...{ series, format, total: totals[active] ?? 0 }}
          />
        )}
      </div>
      <div class="x" aria-hidden="true">
        {ticksOf(buckets.length).map((index) => (
          <span key={index} style={{ "--at": `${((index + 0.5) / buckets.length) * 100}%` }}>
            {buckets[index]}
          </span>
        ))}
      </div>
    </div>
  );
}

function Tip({
  bucket,
  index,
  count,
  series,
  format,
  total,
}: {
  readonly bucket: string;
  readonly index: number;
  readonly count: number;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly total: number;
}): JSX.Element {
  const at = ((index + 0.5) / count) * 100;
  return (
    <>
      <span class="cursor" style={{ "--at": `${at}%` }} />
      <div
        class={at < 40 ? "tip right" : "tip"}
        style={{ "--tip-x": `${at < 40 ? at + 1.5 : at - 1.5}%` }}
        role="status"
      >
        <b>{bucket}</b>
        {series
          .map(({ name, values }, place) => (
            <span key={name} class="row">
              <span class={`swatch f${place + 1}`} />
              <span class="cut">{name}</span>
              <span class="push num">{format(values[index] ?? 0)}</span>
            </span>
          ))
          .toReversed()}
        <span class="row total">
          Total<span class="push num">{format(total)}</span>
        </span>
      </div>
    </>
  );
}

/** Returns the label of a line of the axis, without the error of the division and without trailing zeros. */
function lineText(format: (value: number) => string, value: number): string {
  return format(Number(value.toPrecision(12)))
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** Returns the indexes of at most five buckets whose labels are drawn, including the first and the last. */
function ticksOf(count: number): readonly number[] {
  const ticks = Math.min(5, count);
  if (ticks < 2) return count === 0 ? [] : [0];
  return Array.from({ length: ticks }, (_, tick) => Math.round((tick * (count - 1)) / (ticks - 1)));
}

/** Returns the smallest number with one or two digits and zeros that is not below `value`. */
function roundUp(value: number): number {
  if (value <= 0) return 0;
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= value) ?? 10) * unit;
}

export function Spark({ values }: { readonly values: readonly number[] }): JSX.Element | null {
  const top = Math.max(...values, 0);
  if (values.length < 3 || top === 0) return null;
  const points = values.map((value, index) => `${(index / (values.length - 1)) * 100} ${28 - (value / top) * 26}`);
  return (
    <svg class="spark" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">
      <path d={`M${points.join(" L")}`} />
    </svg>
  );
}

export interface TimelineRow {
  readonly id: string;
  readonly name: JSX.Element | string;
  readonly note: JSX.Element | string;
  /** Start and duration, in milliseconds after the start of the whole. A row that starts at its end has no bar. */
  readonly startMs: number;
  readonly lengthMs: number;
  readonly tone: "" | "bad" | "run" | "idle";
  /** Time of the first token after the start of the row, in milliseconds. */
  readonly firstMs?: number | undefined;
}

/** Waterfall of attempts or steps on one time scale. */
export function Timeline({
  rows,
  totalMs,
  scale,
}: {
  readonly rows: readonly TimelineRow[];
  readonly totalMs: number;
  readonly scale: (ms: number) => string;
}): JSX.Element {
  const whole = Math.max(1, totalMs);
  const share = (ms: number): string => `${Math.min(100, (ms / whole) * 100)}%`;
  return (
    <div class="wf">
      <div class="wf-scale" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{scale(whole * part)}</span>
        ))}
      </div>
      {rows.map(({ id, name, note, startMs, lengthMs, tone, firstMs }) => (
        <div class="wf-row" key={id}>
          <div class="row">
            <b class="cut">{name}</b>
            <span class="push">{note}</span>
          </div>
          <div class="wf-track">
            {startMs >= whole ? null : (
              <span class={`wf-bar ${tone}`} style={{ "--from": share(startMs), "--len": share(lengthMs) }}>
                {firstMs === undefined ? null : (
                  <i style={{ "--ttft": `${Math.min(100, (firstMs / Math.max(1, lengthMs)) * 100)}%` }} />
                )}
              </span>
            )}
          </div>
        </div>
      ))}
    </div>
  );
}
