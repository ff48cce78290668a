/** The same form in fewer triangles, or, where there are hardly any, in more regular ones. */
import { samePlaces } from "../kit/normals.ts";
import { refined } from "../kit/refine.ts";
import { boundsOf, faceted, triangleCount, type Shape } from "../kit/shape.ts";
import { simplified } from "../kit/simplify.ts";
import type { SourcePiece } from "../glb/read.ts";

export interface Remeshed {
  readonly pieces: readonly SourcePiece[];
  readonly extras: { readonly trianglesBefore: number; readonly triangles: number };
}

interface Target {
  readonly triangles: number;
  /** How far the surface may move, as a share of a piece's size. */
  readonly error: number;
  readonly isFaceted: boolean;
}

/** Of the triangles there are, where the prompt does not say. */
const USUAL_SHARE = 0.25;
const FINE_SHARE = 0.6;
const LOW_POLY_SHARE = 0.07;
/** Nothing shows at this share of a piece's size; what was asked for by number may be coarse. */
const USUAL_ERROR = 0.012;
const WANTED_ERROR = 0.25;
/** A mesh as small as this, and left with more than this share of its triangles, is made regular instead. */
const SMALL_TRIANGLES = 2_000;
const HARDLY_FEWER = 0.75;
/** Of the size: a regular mesh has no longer edge. */
const REGULAR_EDGE = 1 / 7;

export function remeshed(pieces: readonly SourcePiece[], prompt: string): Remeshed {
  const trianglesBefore = count(pieces);
  const target = targetOf(prompt, trianglesBefore);
  const locked = joints(pieces);
  const fewer = pieces.map((piece, index) => {
    const triangles = (target.triangles * triangleCount(piece.shape)) / trianglesBefore;
    const shape = simplified(piece.shape, { triangles, error: target.error, locked: locked[index], isFree: true });
    return { ...piece, shape: target.isFaceted ? faceted(shape) : shape };
  });
  const isRegular = count(fewer) > HARDLY_FEWER * trianglesBefore && trianglesBefore <= SMALL_TRIANGLES;
  const result = isRegular && !target.isFaceted ? regular(pieces) : fewer;
  return { pieces: result, extras: { trianglesBefore, triangles: count(result) } };
}

function count(pieces: readonly SourcePiece[]): number {
  return pieces.reduce((sum, { shape }) => sum + triangleCount(shape), 0);
}

/** "5000 triangles", "about 2k polygons", "30%", "low poly", "high detail". */
function targetOf(prompt: string, before: number): Target {
  const text = prompt.toLowerCase();
  const wanted = /(\d[\d,.'_ ]{0,12})(k?)\s*(?:triangles?|tris?|polygons?|polys?|faces?)\b/.exec(text);
  const number = Number(wanted?.[1]?.replaceAll(/[^\d]/g, "") ?? 0) * (wanted?.[2] === "k" ? 1_000 : 1);
  if (number > 0) return { triangles: Math.max(4, number), error: WANTED_ERROR, isFaceted: false };
  const percent = Number(/(\d{1,2})\s*(?:%|percent)/.exec(text)?.[1] ?? 0);
  if (percent > 0) return { triangles: (before * percent) / 100, error: WANTED_ERROR, isFaceted: false };
  if (/\blow[ -]?poly/.test(text)) {
    return { triangles: Math.max(60, before * LOW_POLY_SHARE), error: 0.08, isFaceted: true };
  }
  const isFine = /\b(?:high|fine|more)[ -]?(?:poly|detail|resolution|quality)/.test(text);
  return { triangles: before * (isFine ? FINE_SHARE : USUAL_SHARE), error: USUAL_ERROR, isFaceted: false };
}

/** Where pieces share points these stay, or gaps would open between them. */
function joints(pieces: readonly SourcePiece[]): readonly (Uint8Array | undefined)[] {
  if (pieces.length < 2) return [undefined];
  const all = new Float32Array(pieces.reduce((sum, { shape }) => sum + shape.positions.length, 0));
  let at = 0;
  for (const { shape } of pieces) {
    all.set(shape.positions, at);
    at += shape.positions.length;
  }
  const places = samePlaces(all, sizeOf(pieces) * 1e-6);
  const users = new Int32Array(places.length).fill(-1);
  let vertex = 0;
  // -1 nobody's, then the piece's; -2 where it is more than one's.
  pieces.forEach(({ shape }, index) => {
    for (let own = 0; own < shape.positions.length / 3; own += 1, vertex += 1) {
      const place = places[vertex] ?? vertex;
      const user = users[place] ?? -1;
      users[place] = user === -1 || user === index ? index : -2;
    }
  });
  vertex = 0;
  return pieces.map(({ shape }) => {
    const from = vertex;
    vertex += shape.positions.length / 3;
    return Uint8Array.from({ length: vertex - from }, (_, own) => (users[places[from + own] ?? -1] === -2 ? 1 : 0));
  });
}

function sizeOf(pieces: readonly SourcePiece[]): number {
  const { min, max } = boundsOf(pieces.map(({ shape }) => shape));
  return Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]) || 1;
}

function regular(pieces: readonly SourcePiece[]): readonly SourcePiece[] {
  const edge = sizeOf(pieces) * REGULAR_EDGE;
  return pieces.map((piece): SourcePiece => ({ ...piece, shape: refined(piece.shape, edge) satisfies Shape }));
}
