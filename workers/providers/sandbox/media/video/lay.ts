/**
 * Laying covers over a frame, to a fraction of a pixel: what moves slowly would tremble if it went by whole pixels. These
 * loops are where a film's time goes: they run on one plane at a time and allocate nothing, and what counts in them passes
 * `whole` first, because numbers the engine knows to be whole make them four times as fast (measured). An array taken
 * apart in them costs as much.
 */
import { ROW, type Cover, type CoverPlane, type Frame, type Plane } from "./frame.ts";

/**
 * Lays a cover as wide as the frame or wider, seen from `shift` pixels on, with its first row at `top`.
 * @param top an even number of pixels, also negative
 */
export function slide(frame: Frame, cover: Cover, shift: number, top = 0): void {
  frame.planes.forEach((plane, index) => {
    const [from, scale] = [cover.planes[index], index === 0 ? 1 : 2];
    if (from !== undefined) slidePlane(plane, from, shift / scale, top / scale);
  });
}

function slidePlane(to: Plane, from: CoverPlane, shift: number, top: number): void {
  const bounded = Math.max(0, Math.min(from.width - to.width, shift));
  const skipped = whole(Math.min(bounded, Math.max(0, from.width - to.width - 1)));
  const part = whole((bounded - skipped) * 256);
  const down = whole(top);
  for (let row = whole(Math.max(0, -down)); row < from.height && row + down < to.height; row += 1) {
    const kind = from.rows[row];
    const read = row * from.width + skipped;
    const write = (row + down) * to.width;
    if (kind === ROW.opaque) copyRow(to.data, write, to.width, from.data, read, part);
    else if (kind === ROW.mixed) layRow(to.data, write, to.width, from, read, part);
  }
}

function whole(value: number): number {
  return value | 0;
}

/** @param part of the next pixel in each, of 256 */
function copyRow(to: Uint8Array, write: number, length: number, data: Uint8Array, read: number, part: number): void {
  if (part === 0) {
    to.set(data.subarray(read, read + length), write);
    return;
  }
  const rest = 256 - part;
  for (let index = 0; index < length; index += 1) {
    const at = read + index;
    to[write + index] = (Math.imul(data[at] ?? 0, rest) + Math.imul(data[at + 1] ?? 0, part) + 128) >> 8;
  }
}

function layRow(
  to: Uint8Array,
  write: number,
  length: number,
  { data, alpha }: CoverPlane,
  read: number,
  part: number,
): void {
  const rest = 256 - part;
  for (let index = 0; index < length; index += 1) {
    const at = read + index;
    const opacity = (Math.imul(alpha[at] ?? 0, rest) + Math.imul(alpha[at + 1] ?? 0, part)) >> 8;
    if (opacity === 0) continue;
    const colour = Math.imul(data[at] ?? 0, rest) + Math.imul(data[at + 1] ?? 0, part);
    // Times 257 / 256 is, near enough, a division by 255 and times 256.
    const below = Math.imul(to[write + index] ?? 0, 255 - opacity);
    to[write + index] = (colour + below + (below >> 8) + 128) >> 8;
  }
}

/** Where and how a cover lies: its middle at x, y; 1 is its own size. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly scaleX: number;
  readonly scaleY: number;
  /** Radians, clockwise. */
  readonly turn: number;
  /** How far the top leans to the right, in heights. */
  readonly lean: number;
}

/** Lays a cover turned, leaned and scaled. Its outermost pixels must be transparent. */
export function place(frame: Frame, cover: Cover, where: Place): void {
  frame.planes.forEach((plane, index) => {
    const [from, scale] = [cover.planes[index], index === 0 ? 1 : 2];
    if (from !== undefined) placePlane(plane, from, { ...where, x: where.x / scale, y: where.y / scale });
  });
}

/** Fractions of a pixel in 16 bits. */
const ONE = 65_536;

function placePlane(to: Plane, from: CoverPlane, { x, y, scaleX, scaleY, turn, lean }: Place): void {
  if (Math.abs(scaleX) < 0.01 || Math.abs(scaleY) < 0.01) return;
  const [cosine, sine] = [Math.cos(turn), Math.sin(turn)];
  const [halfWidth, halfHeight] = [from.width / 2, from.height / 2];
  // From the cover's middle to the frame: lean, scale, then turn.
  const [a, b] = [cosine * scaleX, -cosine * lean * scaleX - sine * scaleY];
  const [c, d] = [sine * scaleX, -sine * lean * scaleX + cosine * scaleY];
  const determinant = a * d - b * c;
  const reachX = Math.abs(a) * halfWidth + Math.abs(b) * halfHeight;
  const reachY = Math.abs(c) * halfWidth + Math.abs(d) * halfHeight;
  const [left, right] = [whole(Math.max(0, x - reachX)), whole(Math.min(to.width, x + reachX + 1))];
  const [top, bottom] = [whole(Math.max(0, y - reachY)), whole(Math.min(to.height, y + reachY + 1))];
  // And back, as steps in the cover for a step in the frame.
  const [stepX, stepY] = [whole((d / determinant) * ONE), whole((-c / determinant) * ONE)];
  for (let row = top; row < bottom; row += 1) {
    const [awayX, awayY] = [left + 0.5 - x, row + 0.5 - y];
    const startX = whole(((d * awayX - b * awayY) / determinant + halfWidth - 0.5) * ONE);
    const startY = whole(((-c * awayX + a * awayY) / determinant + halfHeight - 0.5) * ONE);
    placeRow(to.data, row * to.width + left, right - left, from, startX, startY, stepX, stepY);
  }
}

function placeRow(
  to: Uint8Array,
  write: number,
  length: number,
  { data, alpha, width, height }: CoverPlane,
  startX: number,
  startY: number,
  stepX: number,
  stepY: number,
): void {
  const [lastX, lastY] = [(width - 1) * ONE, (height - 1) * ONE];
  let sourceX = startX - stepX;
  let sourceY = startY - stepY;
  for (let index = 0; index < length; index += 1) {
    sourceX += stepX;
    sourceY += stepY;
    if (sourceX < 0 || sourceY < 0 || sourceX >= lastX || sourceY >= lastY) continue;
    const at = Math.imul(sourceY >> 16, width) + (sourceX >> 16);
    const shareX = (sourceX & 0xffff) >> 8;
    const shareY = (sourceY & 0xffff) >> 8;
    const upper = alpha[at] ?? 0;
    const upperNext = alpha[at + 1] ?? 0;
    const lower = alpha[at + width] ?? 0;
    const lowerNext = alpha[at + width + 1] ?? 0;
    // Most pixels of a thing's box lie outside of it or well within.
    if ((upper | upperNext | lower | lowerNext) === 0) continue;
    const colour = between(data, at, width, shareX, shareY);
    const isOpaque = (upper & upperNext & lower & lowerNext) === 255;
    const opacity = isOpaque ? 255 : between(alpha, at, width, shareX, shareY) >> 8;
    const below = Math.imul(to[write + index] ?? 0, 255 - opacity);
    to[write + index] = (colour + below + (below >> 8) + 128) >> 8;
  }
}

/** The value between four pixels, times 256. */
function between(data: Uint8Array, at: number, width: number, shareX: number, shareY: number): number {
  const restX = 256 - shareX;
  const upper = Math.imul(data[at] ?? 0, restX) + Math.imul(data[at + 1] ?? 0, shareX);
  const below = at + width;
  const lower = Math.imul(data[below] ?? 0, restX) + Math.imul(data[below + 1] ?? 0, shareX);
  return (Math.imul(upper, 256 - shareY) + Math.imul(lower, shareY)) >> 8;
}

/**
 * Fills the frame with a part of an opaque picture, enlarged or reduced.
 * @param left of the part, as are the others in pixels of the source
 */
export function zoom(
  frame: Frame,
  source: Pick<Cover, "planes">,
  left: number,
  top: number,
  width: number,
  height: number,
): void {
  frame.planes.forEach((plane, index) => {
    const [from, scale] = [source.planes[index], index === 0 ? 1 : 2];
    if (from !== undefined) zoomPlane(plane, from, left / scale, top / scale, width / scale, height / scale);
  });
}

function zoomPlane(to: Plane, from: Plane, left: number, top: number, width: number, height: number): void {
  const columns = new Int32Array(to.width);
  const shares = new Int32Array(to.width);
  for (let column = 0; column < to.width; column += 1) {
    const at = Math.max(0, Math.min(from.width - 1.01, left + ((column + 0.5) * width) / to.width - 0.5));
    columns[column] = Math.floor(at);
    shares[column] = Math.floor((at % 1) * 256);
  }
  for (let row = 0; row < to.height; row += 1) {
    const at = Math.max(0, Math.min(from.height - 1.01, top + ((row + 0.5) * height) / to.height - 0.5));
    zoomRow(to.data, row * to.width, from, whole(at), whole((at % 1) * 256), columns, shares);
  }
}

function zoomRow(
  to: Uint8Array,
  write: number,
  { data, width }: Plane,
  row: number,
  shareY: number,
  columns: Int32Array,
  shares: Int32Array,
): void {
  const upper = row * width;
  for (let column = 0; column < columns.length; column += 1) {
    const value = between(data, upper + (columns[column] ?? 0), width, shares[column] ?? 0, shareY);
    to[write + column] = (value + 128) >> 8;
  }
}
